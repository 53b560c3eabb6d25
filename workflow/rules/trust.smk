# Can we trust NTK theory: trust. The kernel at initialisation, drawn exactly or computed.
