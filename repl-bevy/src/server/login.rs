//! The login of a client: the event by which the game accepts or refuses it.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::fmt;

/// A client wants to connect, and [`ServerConfig::login`] is [`Login::Ask`]. An observer accepts or refuses
/// the client, at once or later:
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl_bevy::{LoginAsked, ReplServer};
/// # fn build(app: &mut bevy_app::App) {
/// app.add_observer(|asked: On<LoginAsked>, mut server: ResMut<ReplServer>, mut commands: Commands| {
///     let mut connection = server.connection(asked.connection);
///     if asked.login == b"a ticket" {
///         connection.accept(b"welcome");
///         // What is known of the client from now on. It can also own entities.
///         commands.entity(asked.entity).insert(Name::new("Ann"));
///     } else {
///         connection.refuse("this ticket is not known");
///     }
/// });
/// # }
/// ```
///
/// An accepted client becomes a [`ConnectedClient`](crate::ConnectedClient) when it is connected. A client
/// that has no answer within [`login_timeout`](ServerConfig::login_timeout) is refused, and its entity is
/// despawned.
#[derive(EntityEvent, Clone, PartialEq, Eq)]
pub struct LoginAsked {
    /// The entity of the client. It has no [`ConnectedClient`](crate::ConnectedClient) yet.
    pub entity: Entity,
    /// The connection to answer.
    pub connection: ConnectionId,
    /// The login that the client has sent, at most 512 bytes. Do not trust it: any program can send it.
    pub login: Vec<u8>,
}

/// The login may contain a password, so only its length is shown.
impl fmt::Debug for LoginAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, connection, login } = self;
        let bytes = format_args!("{} bytes", login.len());
        let mut shown = f.debug_struct("LoginAsked");
        shown.field("entity", entity).field("connection", connection).field("login", &bytes).finish()
    }
}
