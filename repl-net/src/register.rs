//! The trait [`Register`], with the methods that register classes, archetypes, messages, calls and inputs. A
//! function that accepts `&mut impl Register` registers the same on a server and on a client.
//!
//! *Invariant:* each method does the same as the method of the same name of [`Server`] or [`Client`].

use repl_core::{NetSerialize, Replicated, WithoutFastArrays};
use repl_link::{Channel, MessageOptions};

use crate::calls::rpcs::Rpcs;
use crate::client::Client;
use crate::server::Server;
use crate::session::archetype::ArchetypeId;

/// A [`Server`] or a [`Client`] before its first connection, while the program registers the types that it
/// will send and receive. With this trait, one function registers everything on both sides. Neither side can
/// then forget a type or choose another order:
///
/// ```
/// # mod repl {
/// #     pub use repl_core::*;
/// #     pub use repl_net::*;
/// # }
/// use repl::{Channel, Client, ClientConfig, NetSerialize, Register, Server, ServerConfig, Session};
/// # use repl_core::Replicated;
///
/// fn register<Player: Replicated, Chat: NetSerialize + Send + Sync>(side: &mut impl Register) {
///     side.register::<Player>().register_message::<Chat>(Channel::Ordered);
/// }
///
/// # fn both<Player: Replicated, Chat: NetSerialize + Send + Sync>() {
/// let mut server = Server::new(ServerConfig::default());
/// let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
/// register::<Player, Chat>(&mut server);
/// register::<Player, Chat>(&mut client);
/// # }
/// ```
///
/// Only a server knows which classes are [external](Server::register_external). Call `register_external` for
/// these classes before you call a function with `&mut impl Register`. The function then does not change
/// these classes.
///
/// Each method panics like the method of this name of [`Server`] and [`Client`].
pub trait Register {
    /// Registers a class: [`Server::register`], [`Client::register`].
    #[track_caller]
    fn register<T: Replicated>(&mut self) -> &mut Self;

    /// Registers an archetype (a numbered set of initial values): [`Server::register_archetype`],
    /// [`Client::register_archetype`]. Both sides return the same number if they register the archetypes of a
    /// class in the same order.
    #[track_caller]
    fn register_archetype<T: Replicated>(
        &mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> ArchetypeId<T>;

    /// Registers that the session sends references to [assets](repl_core::AssetRef):
    /// [`Server::register_assets`], [`Client::register_assets`].
    #[track_caller]
    fn register_assets(&mut self) -> &mut Self;

    /// Registers a type of messages with its own limits: [`Server::register_message_with`],
    /// [`Client::register_message_with`].
    #[track_caller]
    fn register_message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self;

    /// Registers a type of messages: [`Server::register_message`], [`Client::register_message`].
    #[track_caller]
    fn register_message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_message_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a class and its calls: [`Server::register_calls`], [`Client::register_calls`].
    #[track_caller]
    fn register_calls<T: Rpcs>(&mut self) -> &mut Self;

    /// Registers a type of inputs. Each input is sent whole: [`Server::register_inputs`],
    /// [`Client::register_inputs`].
    #[track_caller]
    fn register_inputs<T: NetSerialize + Clone + Send + Sync>(&mut self) -> &mut Self;

    /// Registers a type of inputs. Only the fields that differ from the previous tick's input are sent:
    /// [`Server::register_inputs_by_field`], [`Client::register_inputs_by_field`].
    #[track_caller]
    fn register_inputs_by_field<T: WithoutFastArrays + Clone>(&mut self) -> &mut Self;
}

macro_rules! register {
    ($side:ident) => {
        impl Register for $side {
            fn register<T: Replicated>(&mut self) -> &mut Self {
                Self::register::<T>(self)
            }

            fn register_archetype<T: Replicated>(
                &mut self,
                make: impl Fn() -> T + Send + Sync + 'static,
            ) -> ArchetypeId<T> {
                Self::register_archetype(self, make)
            }

            fn register_assets(&mut self) -> &mut Self {
                Self::register_assets(self)
            }

            fn register_message_with<M: NetSerialize + Send + Sync>(
                &mut self,
                channel: Channel,
                options: MessageOptions,
            ) -> &mut Self {
                Self::register_message_with::<M>(self, channel, options)
            }

            fn register_calls<T: Rpcs>(&mut self) -> &mut Self {
                Self::register_calls::<T>(self)
            }

            fn register_inputs<T: NetSerialize + Clone + Send + Sync>(&mut self) -> &mut Self {
                Self::register_inputs::<T>(self)
            }

            fn register_inputs_by_field<T: WithoutFastArrays + Clone>(&mut self) -> &mut Self {
                Self::register_inputs_by_field::<T>(self)
            }
        }
    };
}

register!(Server);
register!(Client);
