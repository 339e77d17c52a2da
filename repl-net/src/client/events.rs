//! The queue of events that the client's user has not polled yet.
//!
//! *Invariant:* events are polled in the order in which they happened. Even if nobody polls, the queue
//! remains short. The length of the queue is below a small multiple of the number of objects that it must
//! report, or below [`LEAST`].

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use repl_core::ObjectRef;

use crate::session::events::ClientEvent;

/// The queue may always have this many events, even if it has few objects to report.
const LEAST: usize = 1_024;

/// The events that the user has not polled yet, in the order in which they happened.
#[derive(Debug)]
pub(crate) struct ClientEvents {
    queue: VecDeque<ClientEvent>,
    /// If the queue is longer than this, events that are no longer needed are dropped.
    limit: usize,
    /// Whether the queue may have events that are no longer needed.
    has_outdated: bool,
    /// The removed objects for which no event will report the removal.
    unreported: Vec<ObjectRef<()>>,
}

impl Default for ClientEvents {
    fn default() -> Self {
        Self { queue: VecDeque::new(), limit: LEAST, has_outdated: false, unreported: Vec::new() }
    }
}

impl ClientEvents {
    pub(crate) fn push(&mut self, event: ClientEvent) {
        // A new object makes no earlier event outdated. A client that joins receives many of them.
        self.has_outdated |= !matches!(event, ClientEvent::Spawned(_));
        self.queue.push_back(event);
        if self.queue.len() > self.limit {
            if std::mem::take(&mut self.has_outdated) {
                self.thin_out();
            }
            self.limit = LEAST.max(self.queue.len().saturating_mul(2));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<ClientEvent> {
        self.queue.pop_front()
    }

    /// Drops the events about an object that the user has removed.
    pub(crate) fn forget(&mut self, removed: ObjectRef<()>) {
        self.queue.retain(|event| match event {
            ClientEvent::Spawned(object)
            | ClientEvent::RoleChanged(object)
            | ClientEvent::TornOff(object)
            | ClientEvent::Bound(object, _)
            | ClientEvent::UnknownPath(object, _) => *object != removed,
            _ => true,
        });
    }

    /// Removes and returns the removed objects for which no event will report the removal. An object is
    /// returned once for each of its removals.
    pub(crate) fn take_unreported(&mut self) -> Vec<ObjectRef<()>> {
        std::mem::take(&mut self.unreported)
    }

    /// Drops the events about objects that were spawned and despawned before the user polled. Of an object
    /// that was despawned, keeps no other event. Keeps only the last event about a change of the role of each
    /// object, and the last of each kind of event about each path.
    fn thin_out(&mut self) {
        let mut events: Vec<Option<ClientEvent>> = self.queue.drain(..).map(Some).collect();
        let mut spawned: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut changed: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut torn_off: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut unknown: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut bound: HashMap<Arc<str>, usize> = HashMap::new();
        let mut destroyed: HashMap<Arc<str>, usize> = HashMap::new();
        for at in 0..events.len() {
            match events.get(at).cloned().flatten() {
                Some(ClientEvent::Spawned(object)) => _ = spawned.insert(object, at),
                Some(ClientEvent::RoleChanged(object)) => drop_at(&mut events, changed.insert(object, at)),
                Some(ClientEvent::TornOff(object)) => _ = torn_off.insert(object, at),
                Some(ClientEvent::UnknownPath(object, _)) => _ = unknown.insert(object, at),
                Some(ClientEvent::Bound(_, path)) => {
                    drop_at(&mut events, destroyed.remove(&path));
                    drop_at(&mut events, bound.insert(path, at));
                }
                Some(ClientEvent::Unbound(object, path)) => {
                    drop_at(&mut events, changed.remove(&object));
                    drop_at(&mut events, bound.insert(path, at));
                }
                Some(ClientEvent::PathDestroyed(path)) => {
                    drop_at(&mut events, destroyed.insert(path, at));
                }
                Some(ClientEvent::Despawned(object, _)) => {
                    drop_at(&mut events, changed.remove(&object));
                    drop_at(&mut events, torn_off.remove(&object));
                    drop_at(&mut events, unknown.remove(&object));
                    if let Some(start) = spawned.remove(&object) {
                        drop_at(&mut events, Some(start));
                        drop_at(&mut events, Some(at));
                        self.unreported.push(object);
                    }
                }
                _ => {}
            }
        }
        self.queue.extend(events.into_iter().flatten());
    }
}

fn drop_at(events: &mut [Option<ClientEvent>], at: Option<usize>) {
    if let Some(event) = at.and_then(|at| events.get_mut(at)) {
        *event = None;
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use repl_core::Guid;

    use super::*;
    use crate::session::events::CloseReason;

    fn object(number: u32) -> ObjectRef<()> {
        ObjectRef::new(Guid::new(number % 7, NonZeroU32::MIN.saturating_add(number)))
    }

    #[test]
    fn objects_that_come_and_go_unseen_do_not_pile_up_and_nothing_else_is_left_out() {
        let mut events = ClientEvents::default();
        events.push(ClientEvent::Connected);
        let known = object(1_000_000);
        events.push(ClientEvent::Despawned(known, CloseReason::Destroyed));
        for number in 0..100_000 {
            events.push(ClientEvent::Spawned(object(number)));
            events.push(ClientEvent::RoleChanged(object(number)));
            events.push(ClientEvent::Despawned(object(number), CloseReason::Relevancy));
            assert!(events.queue.len() <= LEAST + 1);
        }
        events.push(ClientEvent::Spawned(object(100_000)));
        events.thin_out();
        let unreported = events.take_unreported();
        assert_eq!(unreported.len(), 100_000);
        let left: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
        let expected = [
            ClientEvent::Connected,
            ClientEvent::Despawned(known, CloseReason::Destroyed),
            ClientEvent::Spawned(object(100_000)),
        ];
        assert_eq!(left, expected);
    }

    #[test]
    fn an_object_that_is_spawned_and_removed_again_is_reported_as_despawned() {
        let mut events = ClientEvents::default();
        events.push(ClientEvent::Despawned(object(1), CloseReason::Relevancy));
        events.push(ClientEvent::Spawned(object(1)));
        events.push(ClientEvent::RoleChanged(object(1)));
        events.push(ClientEvent::RoleChanged(object(1)));
        events.thin_out();
        assert_eq!(events.queue.len(), 3);
        events.push(ClientEvent::Despawned(object(1), CloseReason::Relevancy));
        events.thin_out();
        assert_eq!(events.queue, [ClientEvent::Despawned(object(1), CloseReason::Relevancy)]);
    }

    #[test]
    fn s199_the_last_event_about_each_path_is_kept() {
        let mut events = ClientEvents::default();
        let door: Arc<str> = Arc::from("door");
        events.push(ClientEvent::PathDestroyed(door.clone()));
        for number in 0..100 {
            events.push(ClientEvent::Bound(object(number), door.clone()));
            events.push(ClientEvent::RoleChanged(object(number)));
            events.push(ClientEvent::Unbound(object(number), door.clone()));
        }
        events.push(ClientEvent::PathDestroyed(door.clone()));
        for number in 200..300 {
            events.push(ClientEvent::Spawned(object(number)));
            events.push(ClientEvent::UnknownPath(object(number), Arc::from("gate")));
            events.push(ClientEvent::Despawned(object(number), CloseReason::Destroyed));
        }
        // What is bound again is no longer destroyed.
        events.push(ClientEvent::PathDestroyed(Arc::from("hatch")));
        events.push(ClientEvent::Bound(object(500), Arc::from("hatch")));
        events.thin_out();
        let last = [ClientEvent::Unbound(object(99), door.clone()), ClientEvent::PathDestroyed(door)];
        let hatch = ClientEvent::Bound(object(500), Arc::from("hatch"));
        assert_eq!(events.queue, [&last[..], &[hatch]].concat());
    }

    #[test]
    fn s199_objects_that_come_and_go_do_not_make_the_queue_long() {
        let mut events = ClientEvents::default();
        let door: Arc<str> = Arc::from("door");
        for _ in 0..10_000 {
            events.push(ClientEvent::Bound(object(1), door.clone()));
            events.push(ClientEvent::Unbound(object(1), door.clone()));
            events.push(ClientEvent::PathDestroyed(door.clone()));
        }
        assert!(events.queue.len() <= LEAST, "{}", events.queue.len());
    }
}
