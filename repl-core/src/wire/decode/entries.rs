//! Decoding maps: what goes, comes and changes, by key.
//!
//! Invariant: keys ascend in every list, so none stands twice, and none is both taken out and brought by one update.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::collections::BTreeSet;

use super::{ChangedItem, Observer, Pass, Table, Target, Walk, WholeItem};
use crate::bits::{BitReader, ReadError, count};
use crate::ids::handle_list::read_handles;
use crate::ids::handles::HandleSet;
use crate::ids::item_list::Departures;
use crate::ids::key::KeyBits;
use crate::ids::reference::Guid;
use crate::schema::program::MapCommand;
use crate::wire::room::check_room;

/// Reads a key.
type ReadKey = fn(&mut BitReader<'_>, &mut Vec<Guid>) -> Result<KeyBits, ReadError>;

/// Keys in ascending order, of a list that says for each whether another follows, or of one that was counted.
#[derive(Clone)]
struct Keys {
    read: ReadKey,
    last: Option<KeyBits>,
}

impl Keys {
    fn of(map: &MapCommand) -> Self {
        Self { read: map.shape.read_key, last: None }
    }

    /// The next key, where it ends before it is read by its type.
    fn key(&mut self, reader: &mut BitReader<'_>, pass: &mut Pass<'_>) -> Result<KeyBits, ReadError> {
        let key = match pass {
            Pass::Validate(checked) => {
                let mut guids = Vec::new();
                let key = (self.read)(reader, &mut guids)?;
                checked.value(reader.position(), false);
                if !guids.is_empty() {
                    checked.key_refers();
                }
                key
            }
            Pass::Apply(ends) => KeyBits::new(ends.take(reader)?),
        };
        self.next_after_last(key)
    }

    fn next_after_last(&mut self, key: KeyBits) -> Result<KeyBits, ReadError> {
        if self.last.as_ref().is_some_and(|last| *last >= key) {
            return Err(ReadError::OutOfRange);
        }
        Ok(self.last.insert(key).clone())
    }

    /// The next key of a list; `None` at its end.
    fn next(
        &mut self,
        reader: &mut BitReader<'_>,
        pass: &mut Pass<'_>,
    ) -> Result<Option<KeyBits>, ReadError> {
        if reader.read_flag()? { self.key(reader, pass).map(Some) } else { Ok(None) }
    }

    /// The next key of a list that was read before.
    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<KeyBits>, ReadError> {
        if !reader.read_flag()? {
            return Ok(None);
        }
        let key = (self.read)(reader, &mut Vec::new())?;
        self.next_after_last(key).map(Some)
    }
}

/// The keys that an update takes out, walked over beside those that it brings while it is validated.
#[derive(Default)]
struct Departed<'b> {
    list: Option<(Keys, BitReader<'b>)>,
    next: Option<KeyBits>,
}

impl Departed<'_> {
    /// Whether `key` is one; asked in ascending order.
    fn contains(&mut self, key: &KeyBits) -> Result<bool, ReadError> {
        let Some((keys, reader)) = &mut self.list else { return Ok(false) };
        while self.next.as_ref().is_none_or(|next| next < key) {
            self.next = keys.next_again(reader)?;
            if self.next.is_none() {
                self.list = None;
                return Ok(false);
            }
        }
        Ok(self.next.as_ref() == Some(key))
    }
}

impl<'b, O: Observer + ?Sized> Walk<'_, '_, 'b, O> {
    /// Reads what changed of a map.
    pub(super) fn map<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        map: &MapCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        let mut doomed = BTreeSet::new();
        let mut departed = self.entry_departures(handle, map, &mut doomed, target)?;
        let (mut keys, mut whole) = (Keys::of(map), 0_u32);
        let mut previous: Option<HandleSet> = None;
        while self.reader.read_flag()? {
            let start = self.reader.position();
            let key = keys.key(self.reader, &mut self.pass)?;
            if departed.contains(&key)? {
                return Err(ReadError::OutOfRange);
            }
            doomed.remove(&key);
            let depth = self.path.enter(key.steps());
            if map.handles == 0 || self.reader.read_flag()? {
                self.new_entry(table, handle, map, &key, start, &mut whole, target)?;
            } else {
                let is_same = previous.is_some() && self.reader.read_flag()?;
                let handles = match previous.take_if(|_| is_same) {
                    Some(handles) => handles,
                    None => read_handles(map.handles, false, self.reader)?,
                };
                let with_callbacks = self.observer.calls_back();
                let mut read = ChangedItem { walk: self, table, handles: &handles };
                target.entry_change(handle, &key, &handles, with_callbacks, &mut read)?;
                previous = Some(handles);
            }
            self.path.leave(depth);
        }
        doomed.iter().for_each(|key| self.remove_entry(handle, key, target));
        Ok(())
    }

    /// Reads all of a map that came into being with what it lies in.
    pub(super) fn whole_map<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        map: &MapCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        let len = count::read_count(map.max_len, self.reader)?;
        count::check_growth(len, count::LEAST_BITS, self.reader)?;
        let mut doomed: BTreeSet<KeyBits> = target.keys(handle).into_iter().collect();
        let (mut keys, mut whole) = (Keys::of(map), 0);
        for _ in 0..len {
            let start = self.reader.position();
            let key = keys.key(self.reader, &mut self.pass)?;
            doomed.remove(&key);
            let depth = self.path.enter(key.steps());
            self.new_entry(table, handle, map, &key, start, &mut whole, target)?;
            self.path.leave(depth);
        }
        doomed.iter().for_each(|key| self.remove_entry(handle, key, target));
        Ok(())
    }

    /// Reads which entries go, and takes those out that are listed; in a sweep the others are `doomed`, unless they come.
    fn entry_departures<T: Target>(
        &mut self,
        handle: u32,
        map: &MapCommand,
        doomed: &mut BTreeSet<KeyBits>,
        target: &mut T,
    ) -> Result<Departed<'b>, ReadError> {
        let departures = Departures::read(self.reader)?;
        if matches!(departures, Departures::AllButListed | Departures::AllButNew) {
            doomed.extend(target.keys(handle));
        }
        let mut keys = Keys::of(map);
        let list = (keys.clone(), self.reader.clone());
        match departures {
            Departures::Listed => {
                while let Some(key) = keys.next(self.reader, &mut self.pass)? {
                    self.remove_entry(handle, &key, target);
                }
                // That none of them comes, too, was seen before anything is applied.
                let validates = matches!(self.pass, Pass::Validate(_));
                Ok(Departed { list: validates.then_some(list), next: None })
            }
            Departures::AllButListed => {
                while let Some(key) = keys.next(self.reader, &mut self.pass)? {
                    doomed.remove(&key);
                }
                Ok(Departed::default())
            }
            Departures::None | Departures::AllButNew => Ok(Departed::default()),
        }
    }

    /// Reads all of one entry, which may be new and whose key began at bit `start`; `whole` counts such.
    #[expect(clippy::too_many_arguments, reason = "what is read, where it is and where it goes")]
    fn new_entry<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        map: &MapCommand,
        key: &KeyBits,
        start: usize,
        whole: &mut u32,
        target: &mut T,
    ) -> Result<(), ReadError> {
        check_room(*whole, map.max_len, target.entries(handle))?;
        *whole = whole.saturating_add(1);
        if matches!(&self.pass, Pass::Apply(ends) if ends.refers) {
            let mut guids = Vec::new();
            (map.shape.read_key)(&mut key.as_slice().reader(), &mut guids).ok();
            if !guids.is_empty() {
                self.observer.mention(self.path.steps(), &mut guids.into_iter(), key.as_slice());
            }
        }
        let with_callbacks = self.observer.calls_back();
        target.entry_whole(handle, key, with_callbacks, &mut WholeItem { walk: self, table })?;
        count::read_padding(start, count::LEAST_BITS, self.reader)
    }

    fn remove_entry<T: Target>(&mut self, handle: u32, key: &KeyBits, target: &mut T) {
        target.entry_remove(handle, key, self.observer.calls_back());
        let depth = self.path.enter(key.steps());
        if let Some((&last, path)) = self.path.steps().split_last() {
            self.observer.cut(path, last..last.saturating_add(1));
        }
        self.path.leave(depth);
    }
}
