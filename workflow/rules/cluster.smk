# Which jobs travel together to a cluster; how many in one go say profiles/slurm and its fallback.
# On one machine Snakemake takes no notice of groups.
from snakemake.jobs import GroupJob

for each in workflow.rules:
    if plan.may_travel(each.name):
        each.group = partial(plan.group, each.name)


# why a scheduler refused or ended a job, Snakemake 9 says of single jobs and not of groups
def log_error_with_reason(group, msg=None, log_error=GroupJob.log_error, **more):
    if msg:
        logger.error(msg)
    log_error(group, msg, **more)


GroupJob.log_error = log_error_with_reason
