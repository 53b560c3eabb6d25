"""What the workflow asks of the package: jobs, files, parameters, footers and costs."""
