//! The queue of the events that the user of a client, or of a host (a player in the server's process), has
//! not polled yet.
//!
//! *Invariant:* events are polled in the order in which they happened. An event about an asset may be dropped
//! if a later event reports the same asset. No other event is dropped.

use std::collections::{HashSet, VecDeque};

use crate::session::events::ClientEvent;

/// If the queue has at most this many events, no event is dropped.
const LEAST: usize = 1_024;

/// The events of a client or a host that its user has not polled yet, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct ClientEvents {
    queue: VecDeque<ClientEvent>,
    /// If the queue has more events than this, an event about an asset is dropped if a later event reports
    /// the same asset.
    limit: usize,
}

impl ClientEvents {
    pub(crate) fn push(&mut self, event: ClientEvent) {
        self.queue.push_back(event);
        if self.queue.len() > self.limit.max(LEAST) {
            self.keep_last_of_assets();
            self.limit = self.queue.len().saturating_mul(2);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<ClientEvent> {
        self.queue.pop_front()
    }

    fn keep_last_of_assets(&mut self) {
        let mut told = HashSet::new();
        let mut is_first = |event: &ClientEvent| match event {
            ClientEvent::UnknownAsset(path) => told.insert(path.clone()),
            _ => true,
        };
        let mut kept: Vec<_> = self.queue.drain(..).rev().filter(|event| is_first(event)).collect();
        kept.reverse();
        self.queue = kept.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_that_are_told_in_each_session_do_not_make_the_queue_long() {
        let mut events = ClientEvents::default();
        let unknown = |number: u32| ClientEvent::UnknownAsset(format!("tree {number}").into());
        events.push(ClientEvent::Connected);
        for session in 0..10_000 {
            events.push(unknown(session % 3));
            assert!(events.queue.len() <= LEAST + 1);
        }
        events.push(ClientEvent::Synchronized);
        events.keep_last_of_assets();
        let left: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
        let assets = [unknown(1), unknown(2), unknown(0)];
        assert_eq!(left, [&[ClientEvent::Connected][..], &assets, &[ClientEvent::Synchronized]].concat());
    }
}
