//! Who a client says that it is, before it is let in.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::fmt;

/// A client asks to be let in, because [`ServerConfig::login`] is [`Login::Ask`]. An observer
/// answers, at once or later:
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl_bevy::{LoginAsked, ReplServer};
/// # fn build(app: &mut bevy_app::App) {
/// app.add_observer(|asked: On<LoginAsked>, mut server: ResMut<ReplServer>| {
///     let mut connection = server.connection(asked.connection);
///     if asked.login == b"a ticket" {
///         connection.accept(b"welcome");
///     } else {
///         connection.refuse("this ticket is not known");
///     }
/// });
/// # }
/// ```
///
/// A client that is accepted becomes a [`ConnectedClient`](crate::ConnectedClient) with this connection. One
/// that is not answered within [`login_timeout`](ServerConfig::login_timeout) is refused.
#[derive(Event, Clone, PartialEq, Eq)]
pub struct LoginAsked {
    /// The connection to answer.
    pub connection: ConnectionId,
    /// What the client shows. It has at most 512 bytes, and anyone may have written them.
    pub login: Vec<u8>,
}

/// The login may contain a password, so only its length is shown.
impl fmt::Debug for LoginAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connection, login } = self;
        let bytes = format_args!("{} bytes", login.len());
        f.debug_struct("LoginAsked").field("connection", connection).field("login", &bytes).finish()
    }
}
