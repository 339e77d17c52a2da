//! Schemas: a schema describes a type for replication. Shapes describe types, and tables are made from
//! shapes.
//!
//! *Invariant:* a schema depends only on its type. The folder `schema` reads and writes no object.

pub(crate) mod attribute_check;
pub(crate) mod attributes;
pub(crate) mod callbacks;
pub(crate) mod checksum;
pub(crate) mod codec;
pub(crate) mod columns;
pub(crate) mod command;
pub(crate) mod condition;
pub(crate) mod condition_masks;
pub(crate) mod const_text;
pub(crate) mod contents;
pub(crate) mod delta;
pub(crate) mod display;
pub(crate) mod editor;
pub(crate) mod erased;
mod flatten;
pub(crate) mod forms;
pub(crate) mod joined;
pub(crate) mod keyed;
pub(crate) mod layout;
pub(crate) mod layout_of;
pub mod limits;
pub(crate) mod listing;
pub(crate) mod location;
pub(crate) mod map;
pub(crate) mod opaque;
mod placing;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod property;
pub(crate) mod quantize;
pub(crate) mod replicated;
pub(crate) mod shape;
pub(crate) mod step;
pub(crate) mod type_text;
pub(crate) mod unit_tables;
pub(crate) mod value;
pub(crate) mod variants;
pub(crate) mod whole_number;
pub(crate) mod wire_form;
pub(crate) mod wire_name;
