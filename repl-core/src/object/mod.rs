//! Access to objects in memory through their layouts. All unsafe code that reads and writes fields is in this
//! folder.
//!
//! *Invariant:* a pointer is used only with the layout of the type that it points to.

pub(crate) mod array;
pub(crate) mod arrays;
pub(crate) mod blocks;
pub(crate) mod collection;
pub(crate) mod collections;
pub(crate) mod copy;
pub(crate) mod delta;
mod differing;
mod element_change;
pub(crate) mod elements;
pub(crate) mod equality;
pub(crate) mod heap;
pub(crate) mod joined;
pub(crate) mod leaf;
pub(crate) mod level;
pub(crate) mod opaque;
pub(crate) mod plain_values;
pub(crate) mod preload;
pub(crate) mod print;
pub(crate) mod read_recipe;
pub(crate) mod restore;
pub(crate) mod rows;
pub(crate) mod scan;
pub(crate) mod setters;
mod stripes;
pub(crate) mod text;
mod variants;
pub(crate) mod whole;
pub(crate) mod write_recipe;
