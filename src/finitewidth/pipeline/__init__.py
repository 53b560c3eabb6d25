"""All that follows from the settings of a run before a job runs.

From the settings to the plan, in the order of the imports:

- `configuration`: the model that checks all settings; `setting_mistakes` says what is wrong
- `jobs`: each job of a configuration, its inputs and outputs; `files`: logs, captions, provenances
- `views`, `descriptions`, `deviations`: what a job does otherwise than the paper, one list a job
- `evidence`: scale, grade and status of what rests on some jobs; `footers`: the same in words
- `claim_input`, `caption_input`, `report_input`: what these rules are given
- `graph`: which job needs which; `costs`, `requests`, `forecast`: what jobs take
- `plan`: all of these for one configuration, for the rules and the command

`plans` compares results with the plans of today. `runs` has what surrounds a run.
"""
