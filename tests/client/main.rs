//! What a client does with the updates that arrive: values, callbacks, references, owners and times.

#[path = "../support/mod.rs"]
mod support;

mod all_or_nothing;
mod assets;
mod client_view;
mod direct;
mod joining;
mod local_changes;
mod local_edits;
mod long_lived;
mod notifies;
mod reference_keys;
mod references;
mod restoring;
mod server_clock;
mod updates;
