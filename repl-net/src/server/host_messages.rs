//! The messages and calls between the server and its host. Each message or call is encoded as for a packet
//! and then decoded immediately, so the receiver gets the same values as over a network.
//!
//! *Invariant:* a message or call is delivered only if it could also be sent in packets.

use std::any::TypeId;

use repl_core::{BitWriter, NetSerialize, Objects, WriteError};
use repl_link::SendError;
use repl_link::parts::{ChannelConfig, DirectMessage, Mailbox};

use super::Server;
use super::host::Host;

impl Server {
    /// Returns the messages and calls that wait for the host, and the objects to which they can refer.
    pub(crate) fn host_mail(&mut self) -> Option<(&mut Mailbox<()>, &dyn Objects)> {
        Some((&mut self.host.as_mut()?.mailbox, &self.world.store))
    }

    /// Writes a message or call into the buffer for calls, and passes the buffer to `pass_on`.
    fn with_written(
        &mut self,
        write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
        pass_on: impl FnOnce(&mut Self, &mut BitWriter) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut writer = std::mem::take(&mut self.call_writer);
        writer.clear();
        let result = write(&mut writer).map_err(SendError::from).and_then(|()| pass_on(self, &mut writer));
        self.call_writer = writer;
        result
    }

    /// Delivers a message or call of the host to the server. `kind` is the index of its type among the
    /// message types or calls of its channel.
    ///
    /// # Errors
    /// Returns an error if there is no host, or if the message may not be sent. Then nothing has changed.
    pub(crate) fn send_from_host(
        &mut self,
        (channel, kind): (u16, usize),
        write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), SendError> {
        self.with_written(write, |server, writer| {
            let now = server.sessions.now();
            let mailbox = &mut server.sessions.mailbox;
            let config = mailbox.config(channel).ok_or(SendError::NotConnected)?;
            config.check_size(writer.bit_len())?;
            let host = server.host.as_mut().ok_or(SendError::NotConnected)?;
            host.limits.take((channel, kind), now)?;
            let message = DirectMessage { from: host.id, writer, objects: &server.world.store, now };
            let (id, delivered) = (host.id, message.deliver(mailbox, channel));
            delivered.map_or_else(|reason| server.close(id, reason), |()| ());
            Ok(())
        })
    }

    /// Delivers a message or call of the server to the host. `key` is the type for which its channel was
    /// registered. `register` registers the channel in the mailbox of the host, if it is new there.
    ///
    /// # Errors
    /// Returns an error if there is no host, or if the message may not be sent. Then nothing has changed.
    pub(crate) fn send_to_host(
        &mut self,
        key: TypeId,
        register: impl FnOnce(&mut Mailbox<()>, ChannelConfig),
        write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), SendError> {
        self.with_written(write, |server, writer| {
            let mailbox = &server.sessions.mailbox;
            let config = mailbox.channel(key).and_then(|channel| mailbox.config(channel));
            let config = config.ok_or(SendError::NotConnected)?;
            config.check_size(writer.bit_len())?;
            let host = server.host.as_deref_mut().ok_or(SendError::NotConnected)?;
            if host.mailbox.channel(key).is_none() {
                register(&mut host.mailbox, config);
            }
            let channel = host.mailbox.channel(key).ok_or(SendError::NotConnected)?;
            let (objects, now) = (&server.world.store, server.sessions.now());
            let message = DirectMessage { from: (), writer, objects, now };
            let (id, delivered) = (host.id, message.deliver(&mut host.mailbox, channel));
            delivered.map_or_else(|reason| server.close(id, reason), |()| ());
            Ok(())
        })
    }

    /// Delivers a message to the host, if there is one and `receives` it.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub(super) fn message_host_if<M: NetSerialize + Send + Sync>(
        &mut self,
        message: &M,
        receives: impl FnOnce(&Host) -> bool,
    ) -> Result<(), SendError> {
        if self.host.as_deref().is_some_and(receives) { self.message_host(message) } else { Ok(()) }
    }

    /// Delivers a message to the host.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub(super) fn message_host<M: NetSerialize + Send + Sync>(
        &mut self,
        message: &M,
    ) -> Result<(), SendError> {
        self.sessions.mailbox.channel_of::<M>();
        let register = |mailbox: &mut Mailbox<()>, config: ChannelConfig| {
            mailbox.register::<M>(config.channel, config.options);
        };
        self.send_to_host(TypeId::of::<M>(), register, |writer| message.write(writer))
    }
}
