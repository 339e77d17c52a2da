//! The types of messages of one side, and the messages that wait until the user polls them.
//!
//! *Invariant:* both sides number their channels in the order of the types' names, so equal types have equal
//! numbers.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::{
    AnyObject, BitSlice, BitWriter, Checksum, Epoch, Form, NetSerialize, Objects, ReadError, ReferenceMap,
    WriteError,
};

use crate::messages::channel::{Channel, ChannelConfig, MessageOptions, SendError};
use crate::messages::read_ahead::{ReadAhead, Ticket};
use crate::messages::sender::Sender;
use crate::rate::rate_limit::RateLimit;
use crate::session::agreement::ChannelTerms;
use crate::session::disconnect::DisconnectReason;
use crate::session::mismatch::MESSAGE;

/// The greatest number of messages of one type and one sender that may wait to be polled, and the greatest
/// number of bytes that they take on the wire.
pub const MAX_UNREAD: usize = 4_096;
const MAX_UNREAD_BYTES: usize = 1 << 20;

/// All registered types of messages, with the messages that arrived from senders `F`.
pub struct Mailbox<F> {
    /// The types, sorted by name.
    types: Vec<MessageType<F>>,
    /// The channel of each type, sorted by type.
    by_type: Vec<(TypeId, u16)>,
    /// A buffer for writing messages.
    writer: BitWriter,
    /// The number of the last packet whose messages were checked.
    packet: u64,
}

struct MessageType<F> {
    /// The kind and the name of the type, for example `message Chat`.
    name: String,
    type_id: TypeId,
    checksum: u64,
    config: ChannelConfig,
    inbox: Box<dyn Inbox<F>>,
}

/// The unread messages of one type.
pub trait Inbox<F>: Any + Send + Sync {
    /// Checks that a message can be read, whatever objects exist. If `ticket` is `Some`, the inbox may store
    /// the value until the message is delivered.
    fn check(&mut self, content: BitSlice<'_>, ticket: Option<Ticket>) -> Result<(), ReadError>;

    /// Reads a message and stores it. If too many messages of the sender are unread, drops the oldest of
    /// these messages. In a reliable channel, drops no message: stores the new message and returns an error.
    /// Drops a message that cannot be read because an object in it does not exist.
    fn push(&mut self, arrival: Arrival<'_, F>) -> Result<(), InboxRefusal>;

    /// Returns how many messages of each kind a client may send in a second. Returns an empty list if the
    /// channel has only one kind. Then the options of the channel contain the limit.
    fn rates(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns the descriptions of everything on which both sides must agree about this type, to compare them
    /// in the handshake.
    fn forms(&self, config: &ChannelConfig) -> Vec<Form>;

    /// Drops waiting messages that are encoded for an earlier session.
    fn begin_session(&mut self) {}

    /// Drops data that is useful only during the session of a sender.
    fn end_session(&mut self, _from: F) {}

    /// Returns the inbox itself, so that the caller can downcast it.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A message that has arrived.
pub struct Arrival<'a, F> {
    /// The sender of the message.
    pub from: F,
    /// The number of the message in its channel. A message that is delivered inside one process, without a
    /// link, has the number 0.
    pub number: u64,
    /// The bits of the message.
    pub content: BitSlice<'a>,
    /// The ticket with which the message was checked.
    pub ticket: Option<Ticket>,
    /// Tells which objects exist.
    pub objects: &'a dyn Objects,
    /// For each kind of messages of the channel, how many the sender may still send, if it is a client.
    pub limits: &'a mut [RateLimit],
    /// The time when the message arrived.
    pub now: Duration,
}

impl<F: Sender> Arrival<'_, F> {
    /// Counts the message as a message of the kind `kind`. Returns an error if its sender is a client that
    /// has sent too many messages of this kind.
    pub fn count(&mut self, kind: usize) -> Result<(), InboxRefusal> {
        let limit = self.limits.get_mut(kind).filter(|_| F::IS_CLIENT);
        let is_allowed = limit.is_none_or(|limit| limit.take(self.now));
        if is_allowed { Ok(()) } else { Err(InboxRefusal::TooFast) }
    }
}

/// Why the connection of a message's sender must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxRefusal {
    /// The client has sent too many messages of this kind. The message was not stored.
    TooFast,
    /// Too many messages of the sender are unread. The message was stored.
    Full,
}

struct TypedInbox<F, M> {
    is_reliable: bool,
    /// How many bytes the unread messages of one sender may take on the wire.
    max_unread_bytes: usize,
    /// The senders of the unread messages, in the order in which the messages arrived.
    order: VecDeque<F>,
    unread: BTreeMap<F, Unread<M>>,
    /// How many entries of `order`, of all senders together, belong to messages that were dropped.
    dropped: usize,
    read_ahead: ReadAhead<M>,
}

struct Unread<M> {
    /// The messages, each with the number of its bytes on the wire.
    messages: VecDeque<(M, usize)>,
    bytes: usize,
    /// How many entries of this sender in `order` belong to messages that were dropped. They are the oldest
    /// entries of the sender.
    dropped: usize,
}

impl<F, M> Inbox<F> for TypedInbox<F, M>
where
    F: Sender,
    M: NetSerialize + Send + Sync,
{
    fn check(&mut self, content: BitSlice<'_>, ticket: Option<Ticket>) -> Result<(), ReadError> {
        // Only reading the message shows which objects it refers to. Whether they exist does not matter here.
        let any = AnyObject::default();
        let mut references = ReferenceMap::new(&any);
        let message = read::<M>(content, &mut references)?;
        if let Some(ticket) = ticket.filter(|_| !references.any_mentioned()) {
            self.read_ahead.keep(ticket, message);
        }
        Ok(())
    }

    fn push(&mut self, mut arrival: Arrival<'_, F>) -> Result<(), InboxRefusal> {
        arrival.count(0)?;
        let Arrival { from, content, objects, ticket, .. } = arrival;
        let message = match ticket.and_then(|ticket| self.read_ahead.take(ticket)) {
            Some(message) => message,
            None => match read::<M>(content, &mut ReferenceMap::new(objects)) {
                Ok(message) => message,
                Err(_) => return Ok(()),
            },
        };
        let bytes = content.len().div_ceil(8);
        let (unread, most) = (self.unread.entry(from).or_insert_with(Unread::new), self.max_unread_bytes);
        let is_over = self.is_reliable && unread.is_full(bytes, most);
        while !self.is_reliable && unread.is_full(bytes, most) {
            unread.drop_oldest();
            self.dropped = self.dropped.saturating_add(1);
        }
        unread.push(message, bytes);
        self.order.push_back(from);
        self.forget_dropped();
        if is_over { Err(InboxRefusal::Full) } else { Ok(()) }
    }

    fn forms(&self, config: &ChannelConfig) -> Vec<Form> {
        let mut forms = config.forms();
        forms.extend(M::WIRE_FORM.forms());
        forms
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl<F: Sender, M> TypedInbox<F, M> {
    fn new(config: ChannelConfig) -> Self {
        let (order, unread, read_ahead) = (VecDeque::new(), BTreeMap::new(), ReadAhead::default());
        // One packet can complete all bulk messages (of more than 64 KiB) that a sender may have in this
        // type, and thus also release the messages that waited for them. All of these must fit into the inbox
        // at once.
        let bulk = if config.allows_bulk() { config.options.max_bytes } else { 0 };
        let max_unread_bytes = MAX_UNREAD_BYTES.saturating_add(bulk);
        Self {
            is_reliable: config.channel.is_reliable(),
            max_unread_bytes,
            order,
            unread,
            dropped: 0,
            read_ahead,
        }
    }

    fn pop(&mut self) -> Option<(F, M)> {
        loop {
            let from = self.order.pop_front()?;
            let unread = self.unread.get_mut(&from)?;
            if unread.skips() {
                self.dropped = self.dropped.saturating_sub(1);
                continue;
            }
            let message = unread.pop();
            if unread.messages.is_empty() {
                self.unread.remove(&from);
            }
            return Some((from, message?));
        }
    }

    /// Removes the entries of dropped messages if more than half of all entries belong to dropped messages.
    /// Costs amortised O(1).
    fn forget_dropped(&mut self) {
        if self.dropped > self.order.len() / 2 {
            let unread = &mut self.unread;
            self.order.retain(|from| !unread.get_mut(from).is_some_and(Unread::skips));
            self.dropped = 0;
        }
    }
}

impl<M> Unread<M> {
    fn new() -> Self {
        Self { messages: VecDeque::new(), bytes: 0, dropped: 0 }
    }

    /// Returns whether there is no room for a message of `bytes` bytes. All messages of the sender together
    /// may take `most` bytes.
    fn is_full(&self, bytes: usize, most: usize) -> bool {
        let is_over = self.bytes.saturating_add(bytes) > most;
        self.messages.len() >= MAX_UNREAD || is_over && !self.messages.is_empty()
    }

    fn push(&mut self, message: M, bytes: usize) {
        self.messages.push_back((message, bytes));
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn pop(&mut self) -> Option<M> {
        let (message, bytes) = self.messages.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(message)
    }

    fn drop_oldest(&mut self) {
        self.pop();
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Returns whether the next entry of the sender in `order` belongs to a dropped message. If so, counts it
    /// as removed.
    fn skips(&mut self) -> bool {
        let skips = self.dropped > 0;
        self.dropped = self.dropped.saturating_sub(1);
        skips
    }
}

/// Reads a message. The message must take exactly the bits of `content`.
fn read<M: NetSerialize>(content: BitSlice<'_>, references: &mut ReferenceMap<'_>) -> Result<M, ReadError> {
    let mut reader = content.reader();
    let message = M::read(&mut reader, references)?;
    if reader.remaining() == 0 { Ok(message) } else { Err(ReadError::OutOfRange) }
}

impl<F> Default for Mailbox<F> {
    fn default() -> Self {
        Self { types: Vec::new(), by_type: Vec::new(), writer: BitWriter::new(), packet: 0 }
    }
}

impl<F: Sender> Mailbox<F> {
    /// Adds a type of messages.
    ///
    /// # Panics
    /// Panics if the type or its name is registered already, if a field of the type has a condition, or if an
    /// option is out of its range.
    #[track_caller]
    pub fn register<M: NetSerialize + Send + Sync>(&mut self, channel: Channel, options: MessageOptions) {
        let config = ChannelConfig { channel, options };
        config.assert_valid();
        if let Some(field) = M::WIRE_FORM.conditional_field() {
            panic!(
                "`{}` cannot be a message, because its field `{field}` has a condition, and each receiver gets a message whole: \
                 send a struct of its own with `#[derive(NetSerialize, Clone)]`",
                M::WIRE_NAME,
            );
        }
        let name = format!("{MESSAGE}{}", M::WIRE_NAME);
        let inbox = TypedInbox::<F, M>::new(config);
        self.register_inbox(name, TypeId::of::<M>(), M::WIRE_FORM.checksum(), config, inbox);
    }

    /// Adds a type of messages with a special inbox.
    ///
    /// # Panics
    /// Panics if the type or its name is registered already.
    #[track_caller]
    pub fn register_inbox(
        &mut self,
        name: String,
        type_id: TypeId,
        checksum: u64,
        config: impl Into<ChannelConfig>,
        inbox: impl Inbox<F>,
    ) {
        let config = config.into();
        let checksum = config.checksum(Checksum::new().number(checksum)).finish();
        self.add(MessageType { name, type_id, checksum, config, inbox: Box::new(inbox) });
    }

    /// Adds a type of messages between the others, which are in the order of their names.
    #[track_caller]
    fn add(&mut self, new: MessageType<F>) {
        assert!(
            self.types.iter().all(|known| known.name != new.name),
            "`{}` is registered already: register each type once, and give each its own name",
            new.name,
        );
        let channel = self.types.partition_point(|known| known.name < new.name);
        let at = self.by_type.partition_point(|(known, _)| *known < new.type_id);
        let later =
            self.by_type.iter_mut().map(|(_, known)| known).filter(|known| usize::from(**known) >= channel);
        later.for_each(|known| *known = known.saturating_add(1));
        self.by_type.insert(at, (new.type_id, channel as u16));
        self.types.insert(channel, new);
    }

    /// Returns the name and the wire forms of each type of messages, for the handshake.
    pub fn forms(&self) -> impl Iterator<Item = ChannelTerms> {
        self.types.iter().map(|known| ChannelTerms {
            name: known.name.clone(),
            forms: known.inbox.forms(&known.config),
            checksum: known.checksum,
        })
    }

    /// Returns the channels, in the order of their numbers.
    pub fn channels(&self) -> impl Iterator<Item = ChannelConfig> {
        self.types.iter().map(|known| known.config)
    }

    /// Returns for each channel how many messages of each kind a client may send in a second.
    pub fn rates(&self) -> impl Iterator<Item = Vec<u32>> {
        self.types.iter().map(|known| match known.inbox.rates() {
            rates if rates.is_empty() => vec![known.config.options.per_second],
            rates => rates,
        })
    }

    /// Returns the number of channels.
    pub fn channel_count(&self) -> u16 {
        self.types.len() as u16
    }

    /// Writes a message. Returns its channel and its bits.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn write<M: NetSerialize>(&mut self, message: &M) -> Result<(u16, &mut BitWriter), SendError> {
        let channel = self.channel_of::<M>();
        Ok((channel, self.write_bits(|writer| message.write(writer))?))
    }

    /// Begins a session after the first one. Object references in messages that are written from now on
    /// belong to the epoch `epoch`.
    pub fn begin_session(&mut self, epoch: Epoch) {
        self.writer.set_epoch(epoch.offset());
        self.types.iter_mut().for_each(|known| known.inbox.begin_session());
    }

    /// Handles the end of a sender's session: drops the data that was useful only during this session.
    pub fn end_session(&mut self, from: F) {
        self.types.iter_mut().for_each(|known| known.inbox.end_session(from));
    }

    /// Writes a message with `write`, and returns its bits.
    pub fn write_bits(
        &mut self,
        write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<&mut BitWriter, WriteError> {
        self.writer.clear();
        write(&mut self.writer)?;
        Ok(&mut self.writer)
    }

    /// Writes a message with `write`, which receives the inbox of the message's type. Returns its channel and
    /// its bits.
    ///
    /// # Errors
    /// Returns an error if the type is not registered with an inbox of the type `I`. Also returns the errors
    /// of `write`.
    pub fn write_from_inbox<I: Inbox<F>>(
        &mut self,
        type_id: TypeId,
        write: impl FnOnce(&mut I, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(u16, &mut BitWriter), SendError> {
        let channel = self.channel(type_id).ok_or(SendError::NotConnected)?;
        let known = self.types.get_mut(channel as usize).ok_or(SendError::NotConnected)?;
        let inbox = known.inbox.as_any_mut().downcast_mut().ok_or(SendError::NotConnected)?;
        self.writer.clear();
        write(inbox, &mut self.writer)?;
        Ok((channel, &mut self.writer))
    }

    /// Returns the numbers of the assets that the last written message refers to.
    pub fn named_assets(&self) -> &[NonZeroU32] {
        self.writer.named_assets()
    }

    /// Returns the channel of a type.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn channel_of<M: NetSerialize>(&self) -> u16 {
        let Some(channel) = self.channel(TypeId::of::<M>()) else {
            panic!(
                "messages of `{}` are not registered: call `register_message` on both sides before they connect",
                M::WIRE_NAME
            );
        };
        channel
    }

    /// Returns the channel of a type, if the type is registered.
    pub fn channel(&self, type_id: TypeId) -> Option<u16> {
        let at = self.by_type.binary_search_by_key(&type_id, |&(known, _)| known).ok()?;
        self.by_type.get(at).map(|&(_, channel)| channel)
    }

    /// Returns the config of a channel, if there is such a channel.
    pub fn config(&self, channel: u16) -> Option<ChannelConfig> {
        self.types.get(channel as usize).map(|known| known.config)
    }

    /// Returns the inbox of a type, if the type is registered with an inbox of the type `I`.
    pub fn inbox_mut<I: Inbox<F>>(&mut self, type_id: TypeId) -> Option<&mut I> {
        let channel = self.channel(type_id)?;
        self.types.get_mut(channel as usize)?.inbox.as_any_mut().downcast_mut()
    }

    /// Begins to check the messages of a packet. Returns the packet's number for the tickets of its messages.
    pub fn begin_packet(&mut self) -> u64 {
        self.packet = self.packet.wrapping_add(1);
        self.packet
    }

    /// Checks that a message can be read. `ticket` identifies a message of a packet until its delivery, so
    /// that the inbox can store the value.
    pub fn check(
        &mut self,
        channel: u16,
        content: BitSlice<'_>,
        ticket: Option<Ticket>,
    ) -> Result<(), ReadError> {
        let known = self.types.get_mut(channel as usize).ok_or(ReadError::OutOfRange)?;
        known.inbox.check(content, ticket)
    }

    /// Stores a message that was checked.
    ///
    /// # Errors
    /// Returns an error if the connection must end, because a client has sent too many messages, or because
    /// too many messages are unread. The reason names the type of the message.
    pub fn deliver(&mut self, channel: u16, arrival: Arrival<'_, F>) -> Result<(), DisconnectReason> {
        let Some(known) = self.types.get_mut(channel as usize) else { return Ok(()) };
        let name = &known.name;
        known.inbox.push(arrival).map_err(|refusal| match refusal {
            InboxRefusal::TooFast => DisconnectReason::TooFast(name.clone()),
            InboxRefusal::Full => DisconnectReason::Unread(name.clone()),
        })
    }

    /// Returns the next unread message of a type, with its sender.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn poll<M: NetSerialize + Send + Sync>(&mut self) -> Option<(F, M)> {
        self.channel_of::<M>();
        self.inbox_mut::<TypedInbox<F, M>>(TypeId::of::<M>())?.pop()
    }
}
