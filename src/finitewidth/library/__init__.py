"""The library that ``import finitewidth`` offers, beside the pipeline.

``finitewidth/__init__.pyi`` lists the public names and the modules that they come from. What needs
several modules of lower layers is written here. No project folder is needed.
"""
