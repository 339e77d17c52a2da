//! The queue of events that the user of a client, or of a host, has not polled yet.
//!
//! *Invariant:* events are polled in the order in which they happened. Even if nobody polls, there are at
//! most [`LEAST`] events about objects, or, if that is more, a small multiple of the objects about which an
//! event is still needed. Events about the start and end of sessions are never dropped.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use repl_core::{Guid, ObjectRef};

use crate::session::events::ClientEvent;

/// The queue may always have this many events, even if it has few objects to report.
const LEAST: usize = 1_024;

/// One entry of the queue: an event, or several events that follow one another.
#[derive(Debug)]
enum Queued {
    /// Objects with the same generation were created in consecutive slots: the first object, and how many.
    Spawned(Guid, u32),
    Event(ClientEvent),
}

/// The events of a client or a host that its user has not polled yet, in the order in which they happened.
#[derive(Debug)]
pub(crate) struct ClientEvents {
    queue: VecDeque<Queued>,
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
        self.has_outdated = true;
        self.queue.push_back(Queued::Event(event));
        self.keep_short();
    }

    /// Records that objects with the same generation were created in `count` consecutive slots, the first of
    /// which is `first`.
    pub(crate) fn spawned(&mut self, first: Guid, count: u32) {
        // A new object makes no earlier event outdated. A client that joins receives many of them.
        self.queue.push_back(Queued::Spawned(first, count));
        self.keep_short();
    }

    /// Drops events that are no longer needed if the queue is long.
    fn keep_short(&mut self) {
        if self.queue.len() > self.limit {
            if std::mem::take(&mut self.has_outdated) {
                self.thin_out();
            }
            self.limit = LEAST.max(self.queue.len().saturating_mul(2));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<ClientEvent> {
        let first = match self.queue.front_mut()? {
            Queued::Spawned(first, count) if *count > 1 => {
                let next = Guid::new(first.slot().saturating_add(1), first.generation());
                *count = count.saturating_sub(1);
                Queued::Spawned(std::mem::replace(first, next), 1)
            }
            _ => self.queue.pop_front()?,
        };
        Some(match first {
            Queued::Spawned(guid, _) => ClientEvent::Spawned(ObjectRef::new(guid)),
            Queued::Event(event) => event,
        })
    }

    /// Drops the events about an object that the user has removed.
    pub(crate) fn forget(&mut self, removed: ObjectRef<()>) {
        let mut events: Vec<ClientEvent> = std::iter::from_fn(|| self.pop()).collect();
        events.retain(|event| match event {
            ClientEvent::Spawned(object)
            | ClientEvent::RoleChanged(object)
            | ClientEvent::TornOff(object)
            | ClientEvent::Bound(object, _)
            | ClientEvent::UnknownPath(object, _) => *object != removed,
            _ => true,
        });
        self.queue.extend(events.into_iter().map(Queued::Event));
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
        let mut events: Vec<_> = std::iter::from_fn(|| self.pop()).map(Some).collect();
        let mut spawned: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut changed: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut torn_off: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut unknown: HashMap<ObjectRef<()>, usize> = HashMap::new();
        let mut bound: HashMap<Arc<str>, usize> = HashMap::new();
        let mut destroyed: HashMap<Arc<str>, usize> = HashMap::new();
        let mut unknown_assets: HashMap<Arc<str>, usize> = HashMap::new();
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
                Some(ClientEvent::UnknownAsset(path)) => {
                    drop_at(&mut events, unknown_assets.insert(path, at));
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
        self.queue.extend(events.into_iter().flatten().map(Queued::Event));
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
    use crate::body::removal::CloseReason;

    fn object(number: u32) -> ObjectRef<()> {
        ObjectRef::new(Guid::new(number % 7, NonZeroU32::MIN.saturating_add(number)))
    }

    fn spawn(events: &mut ClientEvents, number: u32) {
        events.spawned(Guid::new(number % 7, NonZeroU32::MIN.saturating_add(number)), 1);
    }

    fn polled(events: &mut ClientEvents) -> Vec<ClientEvent> {
        std::iter::from_fn(|| events.pop()).collect()
    }

    #[test]
    fn objects_that_were_created_together_are_reported_one_by_one() {
        let mut events = ClientEvents::default();
        let spawned = |slot| ClientEvent::Spawned(ObjectRef::new(Guid::new(slot, NonZeroU32::MIN)));
        events.spawned(Guid::new(3, NonZeroU32::MIN), 3);
        events.push(ClientEvent::Connected);
        assert_eq!(events.pop(), Some(spawned(3)));
        let ClientEvent::Spawned(forgotten) = spawned(4) else { return };
        events.forget(forgotten);
        assert_eq!(polled(&mut events), [spawned(5), ClientEvent::Connected]);
    }

    #[test]
    fn objects_that_come_and_go_unseen_do_not_pile_up_and_nothing_else_is_left_out() {
        let mut events = ClientEvents::default();
        events.push(ClientEvent::Connected);
        let known = object(1_000_000);
        events.push(ClientEvent::Despawned(known, CloseReason::Destroyed));
        for number in 0..100_000 {
            spawn(&mut events, number);
            events.push(ClientEvent::RoleChanged(object(number)));
            events.push(ClientEvent::Despawned(object(number), CloseReason::Relevancy));
            assert!(events.queue.len() <= LEAST + 1);
        }
        spawn(&mut events, 100_000);
        events.thin_out();
        let unreported = events.take_unreported();
        assert_eq!(unreported.len(), 100_000);
        let left = polled(&mut events);
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
        spawn(&mut events, 1);
        events.push(ClientEvent::RoleChanged(object(1)));
        events.push(ClientEvent::RoleChanged(object(1)));
        events.thin_out();
        assert_eq!(events.queue.len(), 3);
        events.push(ClientEvent::Despawned(object(1), CloseReason::Relevancy));
        events.thin_out();
        assert_eq!(polled(&mut events), [ClientEvent::Despawned(object(1), CloseReason::Relevancy)]);
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
            spawn(&mut events, number);
            events.push(ClientEvent::UnknownPath(object(number), Arc::from("gate")));
            events.push(ClientEvent::Despawned(object(number), CloseReason::Destroyed));
        }
        // What is bound again is no longer destroyed.
        events.push(ClientEvent::PathDestroyed(Arc::from("hatch")));
        events.push(ClientEvent::Bound(object(500), Arc::from("hatch")));
        events.thin_out();
        let last = [ClientEvent::Unbound(object(99), door.clone()), ClientEvent::PathDestroyed(door)];
        let hatch = ClientEvent::Bound(object(500), Arc::from("hatch"));
        assert_eq!(polled(&mut events), [&last[..], &[hatch]].concat());
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
