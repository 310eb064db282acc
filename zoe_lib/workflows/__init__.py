"""Workflows: a document of steps, compiled to executions that depend on each other.

    compile_workflow(document, given, place) -> CompiledWorkflow

All faults of a document are reported by one exception, DescriptionError, as Diagnostics.
"""

from zoe_lib.workflows.compiling import compile_workflow
from zoe_lib.workflows.values import CompiledStep, CompiledWorkflow, RunPlace

__all__ = ["CompiledStep", "CompiledWorkflow", "RunPlace", "compile_workflow"]
