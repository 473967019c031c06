//! Wiring agents: what changes in their settings, what does not, and what a person is told.

mod support;

#[path = "install/cases.rs"]
mod cases;
#[path = "install/doctor.rs"]
mod doctor;
#[path = "install/files.rs"]
mod files;
#[path = "install/identity.rs"]
mod identity;
#[path = "install/opencode.rs"]
mod opencode;
#[path = "install/person.rs"]
mod person;
#[path = "install/scripts.rs"]
mod scripts;
#[path = "install/world.rs"]
mod world;
