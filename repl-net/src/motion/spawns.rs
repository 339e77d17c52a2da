//! Predicted spawns: objects that a client shows before the server has spawned them.
//!
//! *Invariant:* each predicted object is either replaced by one object of the server, or removed.

use repl_core::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

/// The greatest number of predicted objects that wait for their objects from the server.
const MOST_WAITING: usize = 256;

/// Identifies an object by the input that has spawned it: the tick of the input, and a number if several
/// objects are spawned in one tick. The client makes the key when it makes the input, and the server makes
/// the same key when it uses the input. Inputs of several players may have the same key, so look only at the
/// keys of objects that the client [owns](crate::ClientConnectionInfo::owned_objects).
///
/// As a property of the server's object, a key takes 25 bits. The initial value means "no key", and takes 1
/// bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpawnKey(Option<(u16, u8)>);

impl SpawnKey {
    /// Returns the key of an object that is spawned by the input of a tick. `number` distinguishes objects of
    /// the same tick.
    #[must_use]
    pub const fn new(tick: u64, number: u8) -> Self {
        Self(Some((tick as u16, number)))
    }
}

impl NetSerialize for SpawnKey {
    const WIRE_NAME: &'static str = "SpawnKey";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_flag(self.0.is_some());
        if let Some((tick, number)) = self.0 {
            writer.write_bits(tick.into(), 16);
            writer.write_bits(number.into(), 8);
        }
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let is_key = reader.read_flag()?;
        let mut read = |bits| if is_key { reader.read_bits(bits) } else { Ok(0) };
        let (tick, number) = (read(16)? as u16, read(8)? as u8);
        Ok(Self(is_key.then_some((tick, number))))
    }

    fn identical(&self, other: &Self) -> bool {
        self == other
    }
}
repl_core::leaf!(SpawnKey);

/// Objects that a client has spawned before the server has received the input, for example projectiles.
///
/// ```
/// # use repl_net as repl;
/// use repl::PredictedSpawns;
///
/// let mut shots = PredictedSpawns::new(30);
/// let key = shots.spawn(100, 0, 2.5_f32); // the input of tick 100 fires
/// for (_, x) in shots.iter_mut() {
///     *x += 0.5; // in each tick
/// }
/// // The server's shot has arrived, with this key. What is shown goes on from where the predicted one is.
/// assert_eq!(shots.claim(key), Some(3.0));
/// assert_eq!(shots.claim(key), None);
///
/// shots.spawn(110, 0, 9.0);
/// assert_eq!(shots.take_refused(140).count(), 0);
/// // The server has confirmed tick 141, and has no shot of tick 110.
/// assert_eq!(shots.take_refused(141).count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct PredictedSpawns<S> {
    waiting: Vec<(u64, SpawnKey, S)>,
    patience: u64,
}

impl<S> PredictedSpawns<S> {
    /// Returns an empty list. If the server has confirmed a tick that is more than `patience` ticks after the
    /// tick of an input, and the input's object has not arrived, the object counts as refused. `patience`
    /// should be long enough to send a lost packet again: 30 ticks at 60 ticks per second.
    #[must_use]
    pub const fn new(patience: u64) -> Self {
        Self { waiting: Vec::new(), patience }
    }

    /// Adds an object that the input of a tick has spawned. `number` distinguishes objects of the same tick.
    /// At most 256 objects wait. If there are more, the oldest is removed.
    pub fn spawn(&mut self, tick: u64, number: u8, object: S) -> SpawnKey {
        let key = SpawnKey::new(tick, number);
        self.waiting.retain(|(_, known, _)| *known != key);
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((tick, key, object));
        key
    }

    /// Returns the objects that wait for their objects from the server, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (SpawnKey, &S)> {
        self.waiting.iter().map(|(_, key, object)| (*key, object))
    }

    /// Returns the objects that wait for their objects from the server, so that the caller can simulate them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (SpawnKey, &mut S)> {
        self.waiting.iter_mut().map(|(_, key, object)| (*key, object))
    }

    /// Removes and returns the predicted object that an object of the server replaces. Pass only keys of
    /// objects that the client owns. Returns `None` if the client has not predicted the object, or if the
    /// object has already counted as refused.
    pub fn claim(&mut self, key: SpawnKey) -> Option<S> {
        let at = self.waiting.iter().position(|(_, known, _)| *known == key)?;
        Some(self.waiting.remove(at).2)
    }

    /// Forgets all objects. Call this when another session begins, because ticks start again.
    pub fn reset(&mut self) {
        self.waiting.clear();
    }

    /// Removes and returns the objects that count as refused after the server has confirmed the tick
    /// `confirmed`.
    pub fn take_refused(&mut self, confirmed: u64) -> impl Iterator<Item = (SpawnKey, S)> {
        let patience = self.patience;
        let refused =
            self.waiting.extract_if(.., move |(tick, _, _)| tick.saturating_add(patience) < confirmed);
        refused.map(|(_, key, object)| (key, object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_object() {
        let mut shots = PredictedSpawns::new(30);
        let (one, other) = (shots.spawn(70_000, 0, "one"), shots.spawn(70_000, 1, "other"));
        assert_eq!(shots.spawn(70_000, 1, "again"), other);
        assert_eq!(shots.iter().map(|(_, shot)| *shot).collect::<Vec<_>>(), ["one", "again"]);
        assert_eq!(
            (shots.claim(other), shots.claim(one), shots.claim(one)),
            (Some("again"), Some("one"), None)
        );
    }

    #[test]
    fn refused_objects_end_once_and_others_stay() {
        let mut shots = PredictedSpawns::new(10);
        (0..5).for_each(|tick| {
            shots.spawn(tick, 0, tick);
        });
        let refused: Vec<u64> = shots.take_refused(13).map(|(_, tick)| tick).collect();
        assert_eq!((refused, shots.iter().count()), (vec![0, 1, 2], 2));
    }

    #[test]
    fn nothing_of_another_session_is_claimed() {
        let mut shots = PredictedSpawns::new(30);
        let key = shots.spawn(100_000, 0, "of the session before");
        shots.reset();
        assert_eq!((shots.claim(key), shots.iter().count()), (None, 0));
    }

    #[test]
    fn at_most_256_wait() {
        let mut shots = PredictedSpawns::new(10);
        (0..300).for_each(|tick| {
            shots.spawn(tick, 0, tick);
        });
        assert_eq!((shots.iter().count(), shots.claim(SpawnKey::new(43, 0))), (256, None));
    }
}
