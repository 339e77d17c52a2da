//! The past values of objects, tick by tick, for lag compensation: the server can check what a client saw.
//!
//! *Invariant:* whatever tick a client claims, a rewind goes back no further than the history, and finds only
//! objects that the client has seen.

use std::collections::VecDeque;
use std::marker::PhantomData;

use repl_core::{Guid, ObjectRef};

use super::connection_info::ConnectionInfo;
use crate::motion::interpolate::Interpolate;

/// The past values of the objects of a class on the server, by tick: for example positions, hitboxes, or
/// whether they are alive.
///
/// A player who shoots sees the other players where they were some time ago. The player's input contains the
/// [tick that was shown](crate::ShownTick), and the history returns the positions at that tick:
///
/// ```
/// # use repl_net::{ConnectionId, ShownTick, Server};
/// # use repl_net as repl;
/// use repl::History;
///
/// # struct Player;
/// type Players = History<Player, [f32; 2]>;
/// # fn near_the_shot(_: [f32; 2]) -> bool { true }
/// fn hit(server: &Server, players: &Players, shooter: ConnectionId, seen: ShownTick) -> bool {
///     let then = players.rewind(server.connection_info(shooter), seen.near(server.ticks()));
///     then.iter().any(|(_, position)| near_the_shot(position))
/// }
/// ```
///
/// Record each object once in each tick. For each object, a history uses memory for one value per tick. It
/// keeps the values of a removed object until they are too old, because a client may still see the object. It
/// keeps the values even if another object already uses the slot.
pub struct History<T, V> {
    tracks: Vec<Option<Track<V>>>,
    /// How many ticks the history goes back.
    ticks: u64,
    newest: u64,
    /// The slot whose track the next sweep checks. The sweep frees the track if all of its values are too
    /// old.
    swept: usize,
    /// The tracks of objects whose slots have other objects now, the oldest first.
    former: VecDeque<Track<V>>,
    class: PhantomData<fn() -> T>,
}

/// The greatest number of ticks that a history goes back: 18 minutes at 60 ticks a second.
const MOST_TICKS: u64 = 65_536;

/// The values of one object in consecutive ticks.
struct Track<V> {
    object: Guid,
    values: VecDeque<V>,
    last: u64,
}

impl<T, V> History<T, V> {
    /// Returns an empty history that goes back `ticks` ticks. At 60 ticks a second, 24 ticks are 400 ms.
    /// Choose more than the round trip of the clients plus the delay of
    /// [`Interpolated`](crate::Interpolated), because this is the age of what clients see.
    #[must_use]
    pub const fn new(ticks: u64) -> Self {
        let ticks = if ticks < MOST_TICKS { ticks } else { MOST_TICKS };
        Self { tracks: Vec::new(), ticks, newest: 0, swept: 0, former: VecDeque::new(), class: PhantomData }
    }

    /// Records the value of an object in a tick, which is the newest recorded tick or a newer one. If the
    /// object has no value for a tick in between, its earlier values are dropped. Costs O(1).
    pub fn record(&mut self, tick: u64, object: ObjectRef<T>, value: V) {
        let Some(guid) = object.guid() else { return };
        self.newest = self.newest.max(tick);
        let slot = guid.slot() as usize;
        if slot >= self.tracks.len() {
            self.tracks.resize_with(slot.saturating_add(1), || None);
        }
        let (most, oldest) = (self.ticks.saturating_add(2) as usize, self.oldest());
        if let Some(place) = self.tracks.get_mut(slot) {
            if let Some(former) = place.take_if(|track| track.object != guid && track.last >= oldest) {
                self.former.push_back(former);
            }
            place.get_or_insert_with(|| Track::new(guid, most)).record(guid, tick, value, most);
        }
        self.sweep();
    }

    /// Frees the values of one object if they are all too old.
    fn sweep(&mut self) {
        self.swept = if self.swept < self.tracks.len() { self.swept } else { 0 };
        let oldest = self.oldest();
        if let Some(place) = self.tracks.get_mut(self.swept) {
            place.take_if(|track| track.last < oldest);
        }
        self.swept = self.swept.saturating_add(1);
        if self.former.front().is_some_and(|track| track.last < oldest) {
            self.former.pop_front();
        }
    }

    const fn oldest(&self) -> u64 {
        self.newest.saturating_sub(self.ticks)
    }

    /// Returns the objects as a client saw them at a tick. A tick before the oldest recorded tick counts as
    /// the oldest one. A tick after the newest one, and NaN, count as the newest one. The result contains
    /// only objects that the client [has seen](ConnectionInfo::has_seen), so that no client hits an object
    /// that it never had. Set [`remember_removed_ticks`](crate::ServerConfig::remember_removed_ticks), so
    /// that objects that were removed from the client a short time ago count, too. The history does not
    /// record which objects the client had in each tick. So a client that lies about the tick can find an
    /// object that it has now at any position in the history. It can also find the present position of an
    /// object that was removed from it, for as many ticks as are remembered.
    #[must_use]
    pub const fn rewind<'a>(&'a self, client: ConnectionInfo<'a>, tick: f64) -> Rewound<'a, T, V> {
        let oldest = client.ticks().saturating_sub(self.ticks) as f64;
        let then = self.at(tick);
        Rewound { seen_by: Some(client), tick: then.tick.max(oldest), ..then }
    }

    /// Does the same as [`rewind`](Self::rewind), but with all objects that existed at the tick, whether a
    /// client has seen them or not.
    #[must_use]
    pub const fn at(&self, tick: f64) -> Rewound<'_, T, V> {
        let newest = self.newest as f64;
        let wanted = if tick.is_nan() { newest } else { tick };
        Rewound { history: self, seen_by: None, tick: wanted.clamp(self.oldest() as f64, newest), wanted }
    }

    /// Returns about how many bytes of memory the history takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let tracks = self.tracks.iter().flatten().chain(&self.former);
        let values = tracks.map(|track| track.values.capacity());
        let places = self.tracks.capacity().saturating_add(self.former.capacity());
        let places = places.saturating_mul(size_of::<Option<Track<V>>>());
        values.sum::<usize>().saturating_mul(size_of::<V>()).saturating_add(places)
    }
}

impl<V> Track<V> {
    fn new(object: Guid, most: usize) -> Self {
        Self { object, values: VecDeque::with_capacity(most), last: 0 }
    }

    fn record(&mut self, object: Guid, tick: u64, value: V, most: usize) {
        if self.object != object || tick != self.last.saturating_add(1) {
            if self.object == object && tick <= self.last && !self.values.is_empty() {
                return;
            }
            self.values.clear();
        } else if self.values.len() >= most {
            self.values.pop_front();
        }
        (self.object, self.last) = (object, tick);
        self.values.push_back(value);
    }

    fn get(&self, tick: u64) -> Option<&V> {
        let back = usize::try_from(self.last.checked_sub(tick)?).ok()?;
        self.values.get(self.values.len().checked_sub(1)?.checked_sub(back)?)
    }

    /// Returns the value at a tick, interpolated if the tick has a fraction.
    fn at(&self, tick: f64) -> Option<V>
    where
        V: Interpolate + Clone,
    {
        let (whole, fraction) = (tick as u64, tick.fract());
        match (self.get(whole), self.get(whole.saturating_add(1))) {
            (Some(before), Some(after)) if fraction > 0.0 => {
                Some(before.interpolate_over(after, fraction, 1.0))
            }
            (Some(before), _) => Some(before.clone()),
            (None, after) => after.filter(|_| fraction > 0.0).cloned(),
        }
    }
}

/// The objects of a [`History`] as they were at a tick.
pub struct Rewound<'a, T, V> {
    history: &'a History<T, V>,
    seen_by: Option<ConnectionInfo<'a>>,
    tick: f64,
    wanted: f64,
}

impl<'a, T, V: Interpolate + Clone> Rewound<'a, T, V> {
    /// Returns the tick of the returned values: the tick that was asked for, moved into the range of the
    /// history.
    #[must_use]
    pub const fn tick(&self) -> f64 {
        self.tick
    }

    /// Returns by how many ticks the tick that the client claimed was older than the oldest tick of the
    /// history, or zero. The result is
    #[must_use]
    pub fn ticks_beyond(&self) -> f64 {
        (self.tick - self.wanted).max(0.0)
    }

    /// Returns the value that an object had. A value between two ticks is interpolated. Returns `None` if the
    /// object did not exist then, or if the client has not seen it.
    #[must_use]
    pub fn get(&self, object: ObjectRef<T>) -> Option<V> {
        let guid = object.guid()?;
        let present = self.history.tracks.get(guid.slot() as usize).and_then(Option::as_ref);
        let track = present.into_iter().chain(&self.history.former).find(|track| track.object == guid)?;
        self.value(track)
    }

    /// Returns all objects that existed then and that the client has seen, with the values that they had.
    /// This includes objects that do not exist any more.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectRef<T>, V)> {
        let tracks = self.history.tracks.iter().flatten().chain(&self.history.former);
        tracks.filter_map(|track| Some((ObjectRef::new(track.object), self.value(track)?)))
    }

    fn value(&self, track: &Track<V>) -> Option<V> {
        let object = ObjectRef::<T>::new(track.object);
        track.at(self.tick).filter(|_| self.seen_by.is_none_or(|client| client.has_seen(object)))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    struct Player;

    fn player(slot: u32, generation: u32) -> ObjectRef<Player> {
        ObjectRef::new(Guid::new(slot, NonZeroU32::new(generation).expect("a generation")))
    }

    #[test]
    fn values_are_those_of_their_ticks_and_between_them() {
        let (mut players, one, other) = (History::new(10), player(0, 1), player(3, 1));
        for tick in 1..=20_u64 {
            players.record(tick, one, tick as f64);
            if tick > 15 {
                players.record(tick, other, 100.0);
            }
        }
        assert_eq!(players.at(12.25).get(one), Some(12.25));
        assert_eq!(players.at(15.0).get(other), None, "it did not exist");
        assert_eq!(players.at(15.5).get(other), Some(100.0));
        assert_eq!(players.at(18.0).iter().collect::<Vec<_>>(), [(one, 18.0), (other, 100.0)]);
        assert_eq!(players.at(99.0).get(one), Some(20.0), "nobody sees the future");
        assert_eq!(players.at(f64::NAN).get(one), Some(20.0));
    }

    #[test]
    fn nobody_goes_further_back_than_the_history() {
        let (mut players, one) = (History::new(10), player(0, 1));
        (1..=50_u64).for_each(|tick| players.record(tick, one, tick as f64));
        for wanted in [39.0, 0.0, -1e9, f64::NEG_INFINITY] {
            let then = players.at(wanted);
            assert_eq!((then.tick(), then.get(one), then.ticks_beyond()), (40.0, Some(40.0), 40.0 - wanted));
        }
    }

    #[test]
    fn a_removed_object_is_known_until_its_last_value_is_too_old() {
        let (mut players, one, other) = (History::new(10), player(0, 1), player(1, 1));
        for tick in 1..=30_u64 {
            players.record(tick, one, 1.0);
            if tick <= 15 {
                players.record(tick, other, 2.0);
            }
        }
        assert_eq!(players.at(14.5).get(other), None, "20 is the oldest");
        let mut early = History::new(10);
        (1..=20_u64).for_each(|tick| early.record(tick, one, 1.0));
        (1..=15_u64).for_each(|tick| early.record(tick, other, 2.0));
        assert_eq!(early.at(14.5).get(other), Some(2.0));
        assert_eq!(early.at(16.0).get(other), None);
        (21..=40_u64).for_each(|tick| early.record(tick, one, 1.0));
        assert!(early.tracks[1].is_none(), "its memory is free");
    }

    #[test]
    fn another_object_in_the_same_place_has_a_history_of_its_own() {
        let mut players = History::new(10);
        (1..=5_u64).for_each(|tick| players.record(tick, player(0, 1), 1.0));
        (6..=8_u64).for_each(|tick| players.record(tick, player(0, 2), 2.0));
        assert_eq!(players.at(5.0).get(player(0, 2)), None);
        assert_eq!(players.at(7.0).get(player(0, 2)), Some(2.0));
        assert_eq!(players.at(7.0).get(player(0, 1)), None);
        assert_eq!(players.at(4.0).get(player(0, 1)), Some(1.0), "the first is known until it is too old");
        assert_eq!(players.at(4.0).iter().collect::<Vec<_>>(), [(player(0, 1), 1.0)]);
        (9..=40_u64).for_each(|tick| players.record(tick, player(0, 2), 2.0));
        assert!(players.former.is_empty(), "its memory is free");
    }

    #[test]
    fn a_history_without_end_is_one_that_goes_back_far() {
        let mut players = History::new(u64::MAX);
        players.record(1, player(0, 1), 1.0);
        assert_eq!(players.at(1.0).get(player(0, 1)), Some(1.0));
    }

    #[test]
    fn the_memory_is_that_of_its_ticks() {
        let mut players = History::new(22);
        (1..=500_u64)
            .for_each(|tick| (0..4).for_each(|slot| players.record(tick, player(slot, 1), [0.0_f32; 3])));
        assert!((4 * 24 * 12..4 * 24 * 12 + 600).contains(&players.memory()), "{}", players.memory());
    }
}
