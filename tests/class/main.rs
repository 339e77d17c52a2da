//! One class without connections: its tables, its values, how an object is compared with its shadow, and the
//! lists of changes.
//!
//! *Invariant:* no test here makes a server with clients.

#[path = "../pair/mod.rs"]
mod pair;

mod by_layout;
mod call_tables;
mod changelist;
mod compare;
mod converted;
mod forged_maps;
mod history;
mod item_layouts;
mod joined;
mod layout;
mod margins;
mod places;
mod references;
mod std_types;
mod values;
mod wire_forms;
mod wire_names;
mod with_within;
