"""The machine: CPUs and affinity, threads, and measured operator tuning."""
