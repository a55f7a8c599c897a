//! The versions of FMI, and what they call their functions and statuses: for messages.

use crate::model::Call;
use crate::status::Status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Two,
    Three,
}

/// Functions of an FMU beside those that an integrator calls ([`Call`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    SetDebugLogging,
    SetUp,
    EnterInitializationMode,
    ExitInitializationMode,
    Terminate,
    Reset,
    Get,
    Set,
    FmuState,
    GetFmuState,
    SetFmuState,
    FreeFmuState,
    Serialize,
    Deserialize,
    DirectionalDerivative,
    InputDerivatives,
    OutputDerivatives,
    DoStep,
    /// One whose name is not known any more.
    Last,
    Integration(Call),
}

impl Version {
    /// The name of a function.
    pub fn name(self, function: Function) -> &'static str {
        let (two, three) = match function {
            Function::SetDebugLogging => ("fmi2SetDebugLogging", "fmi3SetDebugLogging"),
            Function::SetUp => ("fmi2SetupExperiment", "fmi3EnterInitializationMode"),
            Function::EnterInitializationMode => {
                ("fmi2EnterInitializationMode", "fmi3EnterInitializationMode")
            }
            Function::ExitInitializationMode => ("fmi2ExitInitializationMode", "fmi3ExitInitializationMode"),
            Function::Terminate => ("fmi2Terminate", "fmi3Terminate"),
            Function::Reset => ("fmi2Reset", "fmi3Reset"),
            Function::Get => ("fmi2Get*", "fmi3Get*"),
            Function::Set => ("fmi2Set*", "fmi3Set*"),
            Function::FmuState => ("fmi2*FMUstate", "fmi3*FMUState"),
            Function::GetFmuState => ("fmi2GetFMUstate", "fmi3GetFMUState"),
            Function::SetFmuState => ("fmi2SetFMUstate", "fmi3SetFMUState"),
            Function::FreeFmuState => ("fmi2FreeFMUstate", "fmi3FreeFMUState"),
            Function::Serialize => ("fmi2SerializeFMUstate", "fmi3SerializeFMUState"),
            Function::Deserialize => ("fmi2DeSerializeFMUstate", "fmi3DeserializeFMUState"),
            Function::DirectionalDerivative => {
                ("fmi2GetDirectionalDerivative", "fmi3GetDirectionalDerivative")
            }
            Function::InputDerivatives => ("fmi2SetRealInputDerivatives", "fmi3SetFloat64"),
            Function::OutputDerivatives => ("fmi2GetRealOutputDerivatives", "fmi3GetOutputDerivatives"),
            Function::DoStep => ("fmi2DoStep", "fmi3DoStep"),
            Function::Last => ("last call", "last call"),
            Function::Integration(call) => integration(call),
        };
        self.choose(two, three)
    }

    /// The name of a status.
    pub fn status(self, status: Status) -> &'static str {
        let three = match status {
            Status::Ok => "fmi3OK",
            Status::Warning => "fmi3Warning",
            Status::Discard => "fmi3Discard",
            Status::Error | Status::Pending => "fmi3Error",
            Status::Fatal => "fmi3Fatal",
        };
        self.choose(status.name(), three)
    }

    fn choose(self, two: &'static str, three: &'static str) -> &'static str {
        match self {
            Version::Two => two,
            Version::Three => three,
        }
    }
}

/// The functions behind an integrator's calls of the model.
fn integration(call: Call) -> (&'static str, &'static str) {
    match call {
        Call::SetTime => ("fmi2SetTime", "fmi3SetTime"),
        Call::SetInputs => ("fmi2SetReal", "fmi3SetFloat64"),
        Call::GetReal => ("fmi2GetReal", "fmi3GetFloat64"),
        Call::SetStates => ("fmi2SetContinuousStates", "fmi3SetContinuousStates"),
        Call::GetStates => ("fmi2GetContinuousStates", "fmi3GetContinuousStates"),
        Call::GetDerivatives => ("fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives"),
        Call::GetIndicators => ("fmi2GetEventIndicators", "fmi3GetEventIndicators"),
        Call::DirectionalDerivative => ("fmi2GetDirectionalDerivative", "fmi3GetDirectionalDerivative"),
        Call::EnterEventMode => ("fmi2EnterEventMode", "fmi3EnterEventMode"),
        Call::NewDiscreteStates => ("fmi2NewDiscreteStates", "fmi3UpdateDiscreteStates"),
        Call::EnterContinuousTimeMode => ("fmi2EnterContinuousTimeMode", "fmi3EnterContinuousTimeMode"),
        Call::CompletedStep => ("fmi2CompletedIntegratorStep", "fmi3CompletedIntegratorStep"),
    }
}
