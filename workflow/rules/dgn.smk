# Deep gated networks: dgn.


rule dgn:
    input:
        plan.targets("dgn"),
    localrule: True
