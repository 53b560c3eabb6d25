"""The cluster for tests leaves another cluster's configuration alone."""

import os
import stat

import pytest
from tests.workflow import slurm_cluster
from tests.workflow.slurm_cluster import Cluster

FOREIGN = "ClusterName=theirs\nStateSaveLocation=/var/spool/slurm\n"


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A slurm.conf in a folder of its own, and no daemon that would start or end."""
    file = tmp_path / "etc/slurm.conf"
    file.parent.mkdir()
    monkeypatch.setattr(slurm_cluster, "CONF", file)
    monkeypatch.setattr(slurm_cluster.os, "geteuid", lambda: 0)
    monkeypatch.setattr(slurm_cluster.shutil, "which", lambda program, path=None: program)
    monkeypatch.setattr(slurm_cluster, "_runs", lambda *_: False)
    monkeypatch.setattr(slurm_cluster, "_kill_jobs", lambda: None)
    monkeypatch.setattr(Cluster, "_bring_up", lambda *_: None)
    return file


def test_another_cluster_s_configuration_stays(conf, tmp_path):
    conf.write_text(FOREIGN)
    cluster = Cluster(tmp_path / "cluster")
    assert "another cluster's" in slurm_cluster.missing()
    with pytest.raises(RuntimeError, match="left alone"):
        cluster.start()
    cluster.stop()
    assert conf.read_text() == FOREIGN


def test_what_was_written_is_removed_by_its_own_cluster_only(conf, tmp_path):
    mine, other = Cluster(tmp_path / "mine"), Cluster(tmp_path / "other")
    mine.start()
    other.stop()
    assert "ClusterName=finitewidth\n" in conf.read_text()
    mine.start()  # as after a kill
    mine.stop()
    assert not conf.exists()


def test_the_key_is_nobody_else_s_from_the_start(conf, tmp_path, monkeypatch):
    modes = []
    token = slurm_cluster.secrets.token_bytes

    def looking(size):
        modes.append(stat.S_IMODE(os.stat(tmp_path / "mine/munge/munge.key").st_mode))
        return token(size)

    monkeypatch.setattr(slurm_cluster.secrets, "token_bytes", looking)
    Cluster(tmp_path / "mine").start()
    assert modes == [0o600]
