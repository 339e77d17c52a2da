//! The event for messages that could not be sent.

use bevy_ecs::prelude::*;
use repl::SendError;

/// A message could not be sent. Observe it by `On<MessageNotSent>`. In most cases, you can send the message
/// again in a later tick.
#[derive(Event, Clone, Debug, PartialEq)]
pub struct MessageNotSent {
    /// The type of the message.
    pub message: &'static str,
    /// The reason.
    pub error: SendError,
}

impl MessageNotSent {
    pub(crate) fn new<M>(error: SendError) -> Self {
        Self { message: std::any::type_name::<M>(), error }
    }
}
