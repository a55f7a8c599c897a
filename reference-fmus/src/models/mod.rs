//! One file per model: equations, source and known answer in its header.

pub mod all_types;
pub mod arm;
pub mod bouncing_ball;
pub mod broken;
pub mod clutches;
pub mod counting;
pub mod dahlquist;
pub mod dc_drive;
pub mod drive_line;
pub mod friction_row;
pub mod heat_rod;
pub mod lorenz;
pub mod many_indicators;
pub mod misbehaving;
pub mod orifice;
pub mod pipe;

pub mod prothero_robinson;
pub mod pump;
pub mod rc_circuit;
pub mod robot;
pub mod runaway;
pub mod sampled_controller;
pub mod servo_valve;
pub mod spring_pendulum;
pub mod stick_slip;
pub mod stiff_pair;
pub mod stiff_pendulum;
pub mod strict;
pub mod thermostat;
pub mod time_varying;
pub mod two_mass;
pub mod van_der_pol;
pub mod vehicle;
