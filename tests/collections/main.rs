//! Collections whose elements are sent one by one: fast arrays, ordered arrays, maps and sets.

#[path = "../pair/mod.rs"]
mod pair;
#[path = "../support/mod.rs"]
mod support;

mod fast_arrays;
mod item_callbacks;
mod item_limits;
mod lengths;
mod maps;
mod ordered_arrays;
mod random_orders;
mod replicated_maps;
