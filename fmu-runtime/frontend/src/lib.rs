//! The library inside every exported FMU: the C functions of FMI 2.0 (`fmi2`) and of FMI 3.0 (`fmi3`), and an allocator that
//! counts, around `fmu-runtime`, which does the work. An FMU's description says which of the two it is.

mod allocator;
pub mod fmi2;
pub mod fmi3;
mod own_library;
mod pointers;
mod resources;
