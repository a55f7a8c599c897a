//! The library inside every exported FMU: FMI 2.0's C functions (`ffi`) and an allocator that counts, around
//! `fmu-runtime`, which does the work.

pub mod ffi;
