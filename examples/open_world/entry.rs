//! An object of the world, with its history: who may see it, and which values it had in which tick.
//!
//! *Invariant:* the position and the digests (numbers for the values) of an entry equal those of the live
//! object.

use std::collections::VecDeque;

use repl::prelude::*;

use crate::model::*;

/// The number of past values of a property that are stored.
const TRAIL: usize = 150;

/// A reference to an object of any class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Object {
    Avatar(ObjectRef<Avatar>),
    Creature(ObjectRef<Creature>),
    Loot(ObjectRef<Loot>),
    Structure(ObjectRef<Structure>),
    Lantern(ObjectRef<Lantern>),
    Pack(ObjectRef<Pack>),
    Fire(ObjectRef<Fire>),
    Journal(ObjectRef<Journal>),
    Banner(ObjectRef<Banner>),
    Realm(ObjectRef<Realm>),
}

/// Calls a generic function with the reference of an [`Object`].
macro_rules! with_reference {
    ($object:expr, $reference:ident => $call:expr) => {
        match $object {
            Object::Avatar($reference) => $call,
            Object::Creature($reference) => $call,
            Object::Loot($reference) => $call,
            Object::Structure($reference) => $call,
            Object::Lantern($reference) => $call,
            Object::Pack($reference) => $call,
            Object::Fire($reference) => $call,
            Object::Journal($reference) => $call,
            Object::Banner($reference) => $call,
            Object::Realm($reference) => $call,
        }
    };
}

impl Object {
    pub(crate) fn erase(self) -> ObjectRef<()> {
        with_reference!(self, reference => reference.erase())
    }

    fn position(self, server: &Server) -> Point {
        with_reference!(self, reference => server[reference].position())
    }

    fn digests(self, server: &Server) -> [u64; 4] {
        with_reference!(self, reference => server[reference].digests())
    }

    /// Returns the digests of the client's copy of the object, if the client has the object.
    pub(crate) fn client_digests(self, client: &Client) -> Option<[u64; 4]> {
        with_reference!(self, reference => client.get(reference).map(Thing::digests))
    }

    /// Returns the name of the first wrong property of the client's copy. Returns `None` if the client has
    /// exactly the values that it must have.
    pub(crate) fn first_difference(
        self,
        server: &Server,
        client: &Client,
        owns: bool,
    ) -> Option<&'static str> {
        with_reference!(self, reference => match client.get(reference) {
            Some(replica) => server[reference].first_difference(replica, owns),
            None => Some("(missing)"),
        })
    }
}

/// The clients that see an object. Its owner sees it too.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    Everyone,
    OwnerOnly,
    Team(u32),
    /// Clients within about this distance, in metres.
    Located(f32),
    /// Clients that see the object with this number: the index of its entry.
    With(usize),
}

/// An object of the world.
pub(crate) struct Entry {
    pub(crate) object: Object,
    pub(crate) rule: Rule,
    pub(crate) position: Point,
    /// The number of the connection that owns the object.
    pub(crate) owner: Option<usize>,
    /// The past values of each property. Each coordinate of the position is a property of its own.
    trails: [Trail; 4],
}

impl Entry {
    pub(crate) fn new(server: &Server, object: Object, rule: Rule) -> Self {
        let position = object.position(server);
        let trails = object.digests(server).map(Trail::new);
        Self { object, rule, position, owner: None, trails }
    }

    /// Records the present values of the object, which it has from this tick on.
    pub(crate) fn record(&mut self, server: &Server, tick: u32) {
        self.position = self.object.position(server);
        for (trail, digest) in self.trails.iter_mut().zip(self.object.digests(server)) {
            trail.record(tick, digest);
        }
    }

    /// Returns for how many ticks the client has lacked a change of the object, at `now`. `digests` stands
    /// for the values that the client shows.
    pub(crate) fn wait(&self, digests: [u64; 4], now: u32) -> u32 {
        let waits = self.trails.iter().zip(digests).map(|(trail, digest)| trail.wait(digest, now));
        waits.max().unwrap_or(0)
    }
}

/// The last values of a property, oldest first: each as a digest, with the first tick in which the object had
/// it.
struct Trail(VecDeque<(u32, u64)>);

impl Trail {
    fn new(digest: u64) -> Self {
        Self(VecDeque::from([(0, digest)]))
    }

    fn record(&mut self, tick: u32, digest: u64) {
        if self.0.back().is_some_and(|(_, newest)| *newest == digest) {
            return;
        }
        if self.0.len() == TRAIL {
            self.0.pop_front();
        }
        self.0.push_back((tick, digest));
    }

    /// Returns for how many ticks before `now` the object has had another value than the one with this
    /// digest.
    fn wait(&self, digest: u64, now: u32) -> u32 {
        let known = self.0.iter().rposition(|(_, value)| *value == digest);
        // If the trail does not contain the value, the value is older than the whole trail.
        let next = known.map_or(0, |at| at + 1);
        self.0.get(next).map_or(0, |(tick, _)| now - tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_begins_with_the_change_after_the_known_value() {
        let mut trail = Trail::new(7);
        trail.record(3, 7);
        assert_eq!(trail.wait(7, 9), 0);
        trail.record(4, 8);
        trail.record(6, 9);
        assert_eq!([7, 8, 9].map(|digest| trail.wait(digest, 10)), [6, 4, 0]);
        (0..TRAIL as u32).for_each(|tick| trail.record(20 + tick, 100 + u64::from(tick)));
        assert_eq!(trail.wait(7, 200), 180, "the value is older than the trail");
    }
}
