//! The calls of one class that arrived and wait until they are run or polled.
//!
//! *Invariant:* the calls of one sender for one object remain in the order in which they were delivered.

use std::any::Any;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use repl_core::wire::{read_guid, write_guid};
use repl_core::{
    BitSlice, BitWriter, Form, Guid, NetSerialize, NoObjects, ObjectRef, Objects, ReadError, ReferenceMap,
    WriteError,
};
use repl_link::parts::{Arrival, ChannelConfig, Inbox, InboxRefusal, MAX_UNREAD, ReadAhead, Sender, Ticket};

use super::call::ReceivedCall;
use super::rpcs::Rpcs;
use super::table::{CallEntry, CallKind};

/// How long calls wait for objects to which their parameters refer. After the wait, a call runs with null
/// references.
#[derive(Clone, Copy)]
pub(super) struct WaitLimits<'a> {
    pub(super) objects: &'a dyn Objects,
    /// Returns whether an object that does not exist may still arrive. The argument is the object's guid on
    /// the wire.
    pub(super) may_come: &'a dyn Fn(Guid) -> bool,
    /// The longest time that a call waits.
    pub(super) longest: Duration,
    pub(super) now: Duration,
}

/// A call that has arrived and may run.
pub(super) struct Queued<F, T: Rpcs> {
    /// The sender of the call. `None` if this side made the call itself.
    pub(super) from: Option<F>,
    pub(super) object: ObjectRef<T>,
    pub(super) call: T::Call,
}

type Calls<F, T> = VecDeque<Queued<F, T>>;

/// The calls of one class that have arrived on one of its two channels.
pub(super) struct CallInbox<F, T: Rpcs> {
    /// Whether the channel is the one for the reliable calls.
    is_reliable: bool,
    calls: Calls<F, T>,
    /// The calls that the current [run](Self::begin_run) has not handled yet. They are stored here and not in
    /// a local variable, so that no call is lost if another call panics.
    running: Calls<F, T>,
    /// The calls that may not run in the current run and remain for a later one.
    kept: Calls<F, T>,
    /// Calls that wait for objects, and later calls on the same objects, in the order of their arrival.
    waiting: VecDeque<Waiting>,
    /// The number of calls in `calls`, for each sender.
    counts: BTreeMap<F, usize>,
    /// The objects and calls of messages that were read in advance, but not delivered yet.
    read_ahead: ReadAhead<(Guid, T::Call)>,
}

/// A call that waits for objects to which its parameters refer (S223).
struct Waiting {
    object: Guid,
    bytes: Vec<u8>,
    bits: usize,
    /// The time when the call began to wait. `None` until the first tick.
    since: Option<Duration>,
}

impl<F, T: Rpcs> CallInbox<F, T> {
    pub(super) fn new(is_reliable: bool) -> Self {
        Self {
            is_reliable,
            calls: VecDeque::new(),
            running: VecDeque::new(),
            kept: VecDeque::new(),
            waiting: VecDeque::new(),
            counts: BTreeMap::new(),
            read_ahead: ReadAhead::default(),
        }
    }
}

impl<F: Sender, T: Rpcs> CallInbox<F, T> {
    /// Returns whether a message is the mark that replaces a reliable call that the server has withdrawn. The
    /// mark is empty, and a call is never empty, because it contains its object. Clients withdraw no calls.
    fn is_mark(&self, content: BitSlice<'_>) -> bool {
        self.is_reliable && !F::IS_CLIENT && content.is_empty()
    }

    /// Adds a call that this side made itself.
    pub(super) fn push_own(&mut self, object: ObjectRef<T>, call: T::Call) {
        self.calls.push_back(Queued { from: None, object, call });
    }

    /// Removes and returns the oldest call that may run.
    pub(super) fn pop(&mut self) -> Option<ReceivedCall<T, T::Call>> {
        let Queued { from, object, call } = self.pop_queued()?;
        Some(ReceivedCall { object, caller: from.and_then(Sender::connection), call })
    }

    /// Does the same as [`pop`](Self::pop), and also returns the sender of the call.
    pub(super) fn pop_queued(&mut self) -> Option<Queued<F, T>> {
        let queued = self.calls.pop_front()?;
        if let Some(count) = queued.from.and_then(|from| self.counts.get_mut(&from)) {
            *count = count.saturating_sub(1);
        }
        Some(queued)
    }

    /// Begins a run of all calls that may run now. If a call of an earlier run panicked, the remaining calls
    /// of that run are included. The caller receives each call from [`next_to_run`](Self::next_to_run), and
    /// either runs or [keeps](Self::keep) it. Calls that are added during the run are not part of it.
    pub(super) fn begin_run(&mut self) {
        self.counts.clear();
        self.kept.append(&mut self.running);
        self.kept.append(&mut self.calls);
        std::mem::swap(&mut self.kept, &mut self.running);
    }

    pub(super) fn next_to_run(&mut self) -> Option<Queued<F, T>> {
        self.running.pop_front()
    }

    /// Stores a call of the run that may not run yet, for a later run.
    pub(super) fn keep(&mut self, queued: Queued<F, T>) {
        self.kept.push_back(queued);
    }

    /// Ends a run. The calls that were kept come before all calls that were added during the run.
    pub(super) fn end_run(&mut self) {
        for from in self.kept.iter().filter_map(|queued| queued.from) {
            let count = self.counts.entry(from).or_default();
            *count = count.saturating_add(1);
        }
        self.kept.append(&mut self.calls);
        std::mem::swap(&mut self.kept, &mut self.calls);
    }

    /// Releases a waiting call if each object to which it refers exists now or can no longer arrive, or if
    /// the call has waited too long. All waiting calls are from `from`: only clients have waiting calls, and
    /// only the server sends them. Costs O(waiting calls).
    pub(super) fn end_waits(&mut self, from: F, limits: WaitLimits<'_>) {
        let WaitLimits { objects, may_come, longest, now } = limits;
        let mut blocked = HashSet::new();
        for _ in 0..self.waiting.len() {
            let Some(mut waiting) = self.waiting.pop_front() else { break };
            let since = *waiting.since.get_or_insert(now);
            let content = BitSlice::new(&waiting.bytes, 0, waiting.bits).unwrap_or_default();
            let is_awaited = |guid| !objects.contains(guid) && may_come(guid);
            let Ok(read) = Content::<T>::read_asking(content, objects, is_awaited) else { continue };
            let is_overdue = now.saturating_sub(since) >= longest;
            if blocked.contains(&waiting.object) || read.lacks_objects && !is_overdue {
                blocked.insert(waiting.object);
                self.waiting.push_back(waiting);
                continue;
            }
            let count = self.counts.entry(from).or_default();
            *count = count.saturating_add(1);
            self.calls.push_back(read.queued(from));
        }
    }
}

impl<F: Sender, T: Rpcs> Inbox<F> for CallInbox<F, T> {
    fn check(&mut self, content: BitSlice<'_>, ticket: Option<Ticket>) -> Result<(), ReadError> {
        if self.is_mark(content) {
            return Ok(());
        }
        let read = Content::<T>::read(content, &NoObjects)?;
        let entry = read.entry().ok_or(ReadError::UnknownVariant)?;
        let is_for_server = entry.kind == CallKind::Server;
        if is_for_server != F::IS_CLIENT || entry.is_reliable != self.is_reliable {
            return Err(ReadError::OutOfRange);
        }
        // This check uses an empty set of objects, so each call with a reference counts as lacking an object.
        // Such a call is read again at its delivery.
        if let Some(ticket) = ticket.filter(|_| !read.lacks_objects) {
            self.read_ahead.keep(ticket, (read.object, read.call));
        }
        Ok(())
    }

    fn rates(&self) -> Vec<u32> {
        T::CALLS.calls().iter().map(|call| call.per_second).collect()
    }

    fn forms(&self, _: &ChannelConfig) -> Vec<Form> {
        T::CALLS.forms()
    }

    fn push(&mut self, mut arrival: Arrival<'_, F>) -> Result<(), InboxRefusal> {
        if self.is_mark(arrival.content) {
            return Ok(());
        }
        let read = match arrival.ticket.and_then(|ticket| self.read_ahead.take(ticket)) {
            Some((object, call)) => Content::new(object, call, arrival.objects),
            None => match Content::<T>::read(arrival.content, arrival.objects) {
                Ok(read) => read,
                Err(_) => return Ok(()),
            },
        };
        arrival.count(T::number(&read.call))?;
        let Arrival { from, content, .. } = arrival;
        let count = self.counts.entry(from).or_default();
        let is_over = *count >= MAX_UNREAD || self.waiting.len() >= MAX_UNREAD;
        if is_over && !self.is_reliable {
            return Ok(());
        }
        let must_wait = read.lacks_objects && read.entry().is_some_and(|entry| entry.waits);
        if must_wait || self.waiting.iter().any(|waiting| waiting.object == read.object) {
            let mut writer = BitWriter::new();
            writer.append(content);
            let waiting =
                Waiting { object: read.object, bits: content.len(), bytes: writer.into_bytes(), since: None };
            self.waiting.push_back(waiting);
        } else {
            *count = count.saturating_add(1);
            self.calls.push_back(read.queued(from));
        }
        if is_over { Err(InboxRefusal::Full) } else { Ok(()) }
    }

    fn begin_session(&mut self) {
        self.waiting.clear();
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A call in its wire form: its object, and a value of the class's enum of calls.
struct Content<T: Rpcs> {
    object: Guid,
    call: T::Call,
    /// The reference to the object on this side, which may differ from the one on the wire.
    known: ObjectRef<T>,
    /// Whether a parameter refers to an object that does not exist on this side.
    lacks_objects: bool,
}

impl<T: Rpcs> Content<T> {
    /// Returns a call whose parameters contain no references.
    fn new(object: Guid, call: T::Call, objects: &dyn Objects) -> Self {
        let known = objects.epoch().from_wire(object).map_or(ObjectRef::NULL, ObjectRef::new);
        Self { object, call, known, lacks_objects: false }
    }

    /// Reads a call that takes exactly the bits of `content`. References to objects that do not exist are
    /// null.
    fn read(content: BitSlice<'_>, objects: &dyn Objects) -> Result<Self, ReadError> {
        Self::read_asking(content, objects, |guid| !objects.contains(guid))
    }

    /// Reads a call in the same way as [`read`](Self::read). `is_lacking` says whether an object does not
    /// exist.
    fn read_asking(
        content: BitSlice<'_>,
        objects: &dyn Objects,
        is_lacking: impl FnMut(Guid) -> bool,
    ) -> Result<Self, ReadError> {
        let mut reader = content.reader();
        let object = read_guid(&mut reader)?.ok_or(ReadError::OutOfRange)?;
        let mut references = ReferenceMap::new(objects);
        let call = T::Call::read(&mut reader, &mut references)?;
        if reader.remaining() > 0 {
            return Err(ReadError::OutOfRange);
        }
        let lacks_objects = references.take_mentioned().any(is_lacking);
        Ok(Self { lacks_objects, ..Self::new(object, call, objects) })
    }

    fn entry(&self) -> Option<&'static CallEntry> {
        T::CALLS.entry(T::number(&self.call))
    }

    fn queued<F>(self, from: F) -> Queued<F, T> {
        Queued { from: Some(from), object: self.known, call: self.call }
    }
}

pub(super) fn write<T: Rpcs>(
    object: ObjectRef<T>,
    call: &T::Call,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    write_guid(object.guid(), writer);
    call.write(writer)
}
