"""
Interfaces through which passes query ops, so that they need not know any op by name.

Each interface is an xDSL trait. A plug-in's op with these traits takes part in type inference,
device planning, fusion, explicit allocation, liveness and the VM like the built-in ones.
"""

from .device_rules import AllOnHost as AllOnHost
from .device_rules import AnyDevice as AnyDevice
from .device_rules import CalleeDevices as CalleeDevices
from .device_rules import DeviceAnnotated as DeviceAnnotated
from .device_rules import DeviceConstraint as DeviceConstraint
from .device_rules import DeviceRule as DeviceRule
from .device_rules import FunctionDeviceConstraint as FunctionDeviceConstraint
from .device_rules import FunctionDeviceRule as FunctionDeviceRule
from .device_rules import FunctionParameter as FunctionParameter
from .device_rules import FunctionResult as FunctionResult
from .device_rules import OnHost as OnHost
from .device_rules import Operand as Operand
from .device_rules import PartPinned as PartPinned
from .device_rules import PartsMatch as PartsMatch
from .device_rules import Pinned as Pinned
from .device_rules import PreferSameDomain as PreferSameDomain
from .device_rules import Rematerializable as Rematerializable
from .device_rules import ResultOnHost as ResultOnHost
from .device_rules import ReturnDevices as ReturnDevices
from .device_rules import SameDevice as SameDevice
from .device_rules import SameDomain as SameDomain
from .memory_effects import Aliasing as Aliasing
from .memory_effects import AllocatesResults as AllocatesResults
from .memory_effects import Bufferizable as Bufferizable
from .memory_effects import CallsFunction as CallsFunction
from .memory_effects import CapturesOperands as CapturesOperands
from .memory_effects import ChoosesRegion as ChoosesRegion
from .memory_effects import DestinationPassing as DestinationPassing
from .memory_effects import EndsLoop as EndsLoop
from .memory_effects import FreesOperand as FreesOperand
from .memory_effects import HoldsNoTensors as HoldsNoTensors
from .memory_effects import JoinsOperands as JoinsOperands
from .memory_effects import KernelEffects as KernelEffects
from .memory_effects import OverwritesOperands as OverwritesOperands
from .memory_effects import Part as Part
from .memory_effects import PassesValues as PassesValues
from .memory_effects import ReadsOnlySizes as ReadsOnlySizes
from .memory_effects import ReifiesShapes as ReifiesShapes
from .memory_effects import ResultAliases as ResultAliases
from .memory_effects import RewritesOperand as RewritesOperand
from .memory_effects import Runs as Runs
from .memory_effects import RunsRegions as RunsRegions
from .memory_effects import ShapedByOperand as ShapedByOperand
from .memory_effects import ShapesOfOperand as ShapesOfOperand
from .memory_effects import StartsLoop as StartsLoop
from .memory_effects import ViewsOperand as ViewsOperand
from .symbol_users import Lookup as Lookup
from .tensor_operators import CallsKernel as CallsKernel
from .tensor_operators import Equation as Equation
from .tensor_operators import Fresh as Fresh
from .tensor_operators import Fusible as Fusible
from .tensor_operators import FusionKind as FusionKind
from .tensor_operators import InferTypes as InferTypes
from .tensor_operators import NeedsScratch as NeedsScratch
from .tensor_operators import ReadsBeforeWriting as ReadsBeforeWriting
from .tensor_operators import ReadsElementwise as ReadsElementwise
from .tensor_operators import ReshapesOnly as ReshapesOnly
from .tensor_operators import TypeEquations as TypeEquations
from .tensor_operators import has_effects as has_effects
from .tensor_operators import kernel_attributes as kernel_attributes
from .tensor_operators import kernel_name as kernel_name
from .tensor_operators import only_reshapes as only_reshapes
from .tensor_operators import reads_contents as reads_contents
from .tensor_operators import scratch_types as scratch_types
