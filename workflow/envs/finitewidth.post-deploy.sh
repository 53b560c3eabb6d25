# Snakemake copies this file to .snakemake/conda and runs it in the new environment. It installs the
# project, which pip does not accept together with requirements that have digests.
set -e
exec pip install --quiet --no-deps --no-build-isolation --editable "$(dirname "$0")/../.."
