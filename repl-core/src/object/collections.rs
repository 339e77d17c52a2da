//! What is done to all collections of an object, at any depth.
//!
//! *Invariant:* collections inside elements come before the collection that holds these.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::level::{LevelMut, Slot};

/// Gives the items of the collections of a level, at any depth, the ids under which shadows have followed them.
pub(crate) fn settle(level: &mut LevelMut<'_>) {
    for handle in 1..=level.as_level().handles() {
        match level.as_level().slot(handle) {
            Some(Slot::Array(array)) if array.nests() => {
                for index in 0..array.len() {
                    if let Some(mut element) = level.element(handle, index) {
                        settle(&mut element);
                    }
                }
            }
            Some(Slot::Keyed(items)) => {
                let nests = items.nests();
                let Some(mut items) = level.keyed(handle) else { continue };
                items.settle();
                for id in if nests { items.as_items().ids() } else { Vec::new() } {
                    if let Some(mut item) = items.item(id) {
                        settle(&mut item);
                    }
                }
            }
            Some(Slot::Map(entries)) if entries.nests() => {
                if let Some(mut entries) = level.map(handle) {
                    entries.each_value(&mut settle);
                }
            }
            _ => {}
        }
    }
}

/// From now on the collections of a level belong to a client.
pub(crate) fn adopt(level: &mut LevelMut<'_>) {
    for handle in 1..=level.as_level().handles() {
        match level.as_level().slot(handle) {
            Some(Slot::Array(array)) if array.nests() => {
                for index in 0..array.len() {
                    if let Some(mut element) = LevelMut::element(level, handle, index) {
                        adopt(&mut element);
                    }
                }
            }
            Some(Slot::Keyed(items)) => {
                let ids = if items.nests() { items.ids() } else { Vec::new() };
                let Some(mut items) = level.keyed(handle) else { continue };
                items.become_replica();
                for id in ids {
                    if let Some(mut item) = items.item(id) {
                        adopt(&mut item);
                    }
                }
            }
            Some(Slot::Map(entries)) if entries.nests() => {
                if let Some(mut entries) = level.map(handle) {
                    entries.each_value(&mut adopt);
                }
            }
            _ => {}
        }
    }
}

/// Ends an update of the collections of a level: inner ones first, then what is called and removed of each (S178).
pub(crate) fn conclude(level: &mut LevelMut<'_>, with_callbacks: bool) {
    for handle in 1..=level.as_level().handles() {
        conclude_slot(level, handle, with_callbacks);
    }
}

/// The same of what stands at one handle.
pub(crate) fn conclude_slot(level: &mut LevelMut<'_>, handle: u32, with_callbacks: bool) {
    match level.as_level().slot(handle) {
        Some(Slot::Array(array)) if array.nests() => {
            for index in 0..array.len() {
                if let Some(mut element) = LevelMut::element(level, handle, index) {
                    conclude(&mut element, with_callbacks);
                }
            }
        }
        Some(Slot::Keyed(items)) => {
            let nests = items.nests();
            let Some(mut items) = level.keyed(handle) else { return };
            if nests {
                items.received(&mut |item| conclude(item, with_callbacks));
            }
            items.conclude(with_callbacks);
        }
        Some(Slot::Map(entries)) if entries.nests() => {
            if let Some(mut entries) = level.map(handle) {
                entries.each_value(&mut |value| conclude(value, with_callbacks));
            }
        }
        _ => {}
    }
}
