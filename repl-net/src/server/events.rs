//! The queue of events that the server's user has not polled yet.
//!
//! *Invariant:* events are polled in the order in which they happened. At most [`MAX_REFUSALS`] events about
//! refused values wait in the queue, and at most one for each path of an object. If there are more, the
//! oldest events about refused values are dropped, and their number is reported. Events about the start and
//! end of connections are never dropped.

use std::collections::{BTreeSet, VecDeque};

use repl_core::ObjectRef;

use crate::session::events::ServerEvent;

/// The greatest number of events about refused values that wait to be polled.
const MAX_REFUSALS: usize = 1_024;

/// The object of a refused value, and the path of the value in the object.
type Place = (ObjectRef<()>, String);

/// The events that the user has not polled yet, in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct ServerEvents {
    /// The number of the next event.
    next: u64,
    /// The waiting events that are never dropped, with their numbers.
    kept: VecDeque<(u64, ServerEvent)>,
    /// The waiting events about refused values, with their numbers.
    refusals: VecDeque<(u64, ServerEvent)>,
    /// The objects and the paths of the refused values in `refusals`.
    places: BTreeSet<Place>,
    /// The number of events about refused values that were dropped since the last report.
    dropped: u64,
}

impl ServerEvents {
    /// Appends an event to the queue. If an event about the same refused value already waits, no event is
    /// added.
    pub(super) fn push(&mut self, event: ServerEvent) {
        let number = self.next;
        self.next += 1;
        let Some(place) = place_of(&event) else {
            self.kept.push_back((number, event));
            return;
        };
        if !self.places.insert(place) {
            return;
        }
        self.refusals.push_back((number, event));
        if self.refusals.len() > MAX_REFUSALS {
            self.pop_refusal();
            self.dropped += 1;
        }
    }

    /// Removes and returns the oldest event.
    pub(super) fn pop(&mut self) -> Option<ServerEvent> {
        let kept = self.kept.front().map_or(u64::MAX, |(number, _)| *number);
        let refusal = self.refusals.front().map_or(u64::MAX, |(number, _)| *number);
        if kept < refusal {
            return self.kept.pop_front().map(|(_, event)| event);
        }
        if self.dropped > 0 {
            return Some(ServerEvent::RefusalsDropped(std::mem::take(&mut self.dropped)));
        }
        self.pop_refusal()
    }

    fn pop_refusal(&mut self) -> Option<ServerEvent> {
        let (_, event) = self.refusals.pop_front()?;
        place_of(&event).map(|place| self.places.remove(&place));
        Some(event)
    }
}

fn place_of(event: &ServerEvent) -> Option<Place> {
    match event {
        ServerEvent::ValueRefused { object, path, .. } => Some((*object, path.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use repl_core::{Guid, WriteError};
    use repl_link::{ConnectionId, DisconnectReason};

    use super::*;

    fn refused(slot: u32) -> ServerEvent {
        ServerEvent::ValueRefused {
            object: ObjectRef::new(Guid::new(slot, std::num::NonZeroU32::MIN)),
            class: "Player",
            property: "score",
            path: "score".to_owned(),
            error: WriteError::OutOfRange,
        }
    }

    fn ended() -> ServerEvent {
        ServerEvent::Disconnected(ConnectionId::for_tests(0), DisconnectReason::Timeout)
    }

    #[test]
    fn a_value_that_is_refused_again_and_again_waits_once() {
        let mut events = ServerEvents::default();
        (0..10_000).for_each(|_| events.push(refused(3)));
        assert_eq!(events.pop(), Some(refused(3)));
        assert_eq!(events.pop(), None);
        events.push(refused(3));
        assert_eq!(events.pop(), Some(refused(3)), "once told it is told again");
    }

    #[test]
    fn of_many_refused_values_the_oldest_are_dropped_and_counted_and_nothing_else_is() {
        let mut events = ServerEvents::default();
        events.push(ended());
        (0..5_000).for_each(|slot| events.push(refused(slot)));
        events.push(ended());
        assert_eq!(events.pop(), Some(ended()));
        assert_eq!(events.pop(), Some(ServerEvent::RefusalsDropped(5_000 - MAX_REFUSALS as u64)));
        for slot in 5_000 - MAX_REFUSALS as u32..5_000 {
            assert_eq!(events.pop(), Some(refused(slot)));
        }
        assert_eq!(events.pop(), Some(ended()));
        assert_eq!(events.pop(), None);
        assert!(events.places.is_empty());
    }
}
