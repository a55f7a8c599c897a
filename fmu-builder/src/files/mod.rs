//! Files that are read and written.
//!
//! | file | idea |
//! |---|---|
//! | `archive` | zip archives, read with care and written the same each time |
//! | `reading` | a file, a pipe or a device that somebody named, whole and within bounds |
//! | `outputs` | all outputs or none |
//! | `scratch` | a folder that nobody else may look into, and that goes with us |
//! | `cleanup` | what a signal must not leave behind |

pub mod archive;
pub mod cleanup;
pub mod outputs;
pub mod reading;
pub mod scratch;
