# Trained networks. A training is a stack of networks that are trained side by side in one job; the
# functions in papers/<paper>/experiments/trainings.py say what each has:
#
#   training                      regimes of its networks
#   npf/<row>-relu                ReLU
#   npf/<row>-dlnpf               DLNPF: the gates are learnt beside the weights
#   npf/<row>-frozen              FRNPF-II, FRNPF-DI: random gates; FLNPF: gates of npf/<row>-relu
#   npf/stages-relu               ReLU
#   npf/stages-frozen             FRNPF-II; FLNPF: gates of npf/stages-relu after each stage
#   npf/nu                        ReLU
#   npf/kvf                       DLNPF
#   dgn/mnist-relu                ReLU
#   dgn/mnist-galu                GaLU
#   dgn/binary-relu               ReLU
#   dgn/binary-soft_relu          soft-ReLU
#   dgn/binary-soft_galu          soft-GaLU
#   dgn/binary-frozen             FRNPF-DI, GaLU; FLNPF: gates of dgn/binary-relu
#   dgn/sweep-linear              linear
#   dgn/sweep-relu                ReLU
#   dgn/sweep-soft_relu           soft-ReLU
#   dgn/gates_only                gates-only: the weights stay random, or all but the last ones
#
# <row> is a row of Table 2 of npf, such as gconv_adam, or cntk.
#
# Experiments of the stage `training` train networks themselves, since they measure in every step.
#
# All jobs have one thread: the numbers do not depend on --cores, and two trainings side by side use
# two cores better than one training does.


rule train:
    """A stack of networks: what was measured in every epoch, and the weights"""
    input:
        unpack(lambda wildcards: inputs_of(f"{wildcards.paper}/{wildcards.training}")),
    output:
        history=f"{results}/{{paper}}/training/{{training}}/history.csv",
        weights=f"{results}/{{paper}}/training/{{training}}/weights.npz",
        provenance=f"{results}/{{paper}}/training/{{training}}/provenance.json",
    log:
        f"{results}/logs/{{paper}}/training/{{training}}.log",
    benchmark:
        f"{results}/benchmarks/{{paper}}/training/{{training}}.tsv"
    resources:
        **plan.requests.resources("train"),
        gpu=plan.gpus,
    params:
        settings=lambda wildcards: parameter(
            f"{wildcards.paper}/{wildcards.training}", "settings"
        ),
        seed=config["seed"],
        checkpoints=checkpoint_folder,
    script:
        "../scripts/train.py"


for job in experiments("training"):

    rule:
        """Tables and weights of networks that the experiment trains itself"""
        name:
            job.name
        input:
            unpack(partial(inputs_of, job.name)),
        output:
            **plan.jobs.outputs(job.name),
        log:
            plan.files.log(job.name),
        benchmark:
            plan.files.benchmark(job.name)
        resources:
            **plan.requests.resources(job.name),
            gpu=plan.gpus if job.declared.gpu else 0,
        params:
            module=job.declared.module,
            settings=partial(parameter, job.name, "settings"),
            seed=config["seed"],
            on_device=job.declared.gpu,
            checkpoints=checkpoint_folder if job.declared.resumes else None,
        script:
            "../scripts/experiment.py"
