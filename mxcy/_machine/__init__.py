"""The machine: its CPUs, the threads of this process, forks, and what trials measured."""
