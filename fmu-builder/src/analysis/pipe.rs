//! The pipe of 003, section 4: five cells, three species, gas and wall temperature. Tests only.
