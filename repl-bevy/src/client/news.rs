//! The updates of the server's objects since the last time the client was polled.
//!
//! *Invariant:* when an entity is despawned, it still has its components.

use std::collections::HashSet;

use repl::prelude::*;

/// An update, with the root (the object that stands for the entity) and the class of its object at the time
/// of the poll.
pub(super) struct News {
    pub(super) root: ObjectRef<()>,
    pub(super) class: Option<&'static str>,
    pub(super) update: Update,
}

/// Removes all waiting updates from the client and returns them.
pub(super) fn take(client: &mut Client) -> Vec<News> {
    without_ends_in_between(polled(client))
}

/// The root and the class of a removed object can be read only until the next poll, so they are stored with
/// the update.
fn polled(client: &mut Client) -> Vec<News> {
    let mut news = Vec::new();
    while let Some(update) = client.poll_update() {
        let info = client.object_info(update.object);
        let root = info.parent().unwrap_or(update.object);
        news.push(News { root, class: info.class_name(), update });
    }
    news
}

/// If the entity of a component is removed in the same list, drops the removal of the component. So the
/// entity still has its components when it is despawned.
fn without_ends_in_between(news: Vec<News>) -> Vec<News> {
    let mut ending = HashSet::new();
    let is_kept = |News { root, update, .. }: &News| {
        if !matches!(update.what, UpdateKind::Despawned(_)) {
            return true;
        }
        let is_root = update.object == *root;
        if is_root {
            ending.insert(*root);
        }
        is_root || !ending.contains(root)
    };
    let mut kept: Vec<News> = news.into_iter().rev().filter(is_kept).collect();
    kept.reverse();
    kept
}
