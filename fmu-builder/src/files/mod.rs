//! Files that are read and written.
//!
//! | file | idea |
//! |---|---|
//! | `archive` | zip archives, read with care and written the same each time |
//! | `outputs` | all outputs or none |
//! | `scratch` | a folder that nobody else may look into, and that goes with us |
//! | `cleanup` | what a signal must not leave behind |

pub mod archive;
pub mod cleanup;
pub mod outputs;
pub mod scratch;
