//! Messages that wait until they are sent.

use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;

/// Remembers which messages of a type were already sent. A server sends messages in each tick, and also in
/// each frame while the game is paused.
#[derive(Resource)]
pub(crate) struct Outbox<M: Message>(MessageCursor<M>);

impl<M: Message> Default for Outbox<M> {
    fn default() -> Self {
        Self(MessageCursor::default())
    }
}

impl<M: Message> Outbox<M> {
    /// Returns each message that was not returned before.
    pub(crate) fn take<'a>(&'a mut self, messages: &'a Messages<M>) -> impl Iterator<Item = &'a M> {
        self.0.read(messages)
    }
}
