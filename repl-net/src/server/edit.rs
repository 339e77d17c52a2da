//! Editing objects with setters: the methods of the server that return editors.
//!
//! `derive(Replicated)` generates the setters. `World` passes them the object and its marks, and
//! `repl-core/src/schema/editor.rs` describes how a write sets the marks.
//!
//! *Invariant:* an editor that writes nothing new marks nothing, so the object is not even compared.

use repl_core::{Edit, ObjectRef, Replicated};

use super::Server;
use super::objects::text_of;

impl Server {
    /// Returns the editor of an object, which marks the properties that it changes. This is the fastest way
    /// to change objects with `push` properties: in the next tick only the marked properties are compared.
    ///
    /// The derive generates the methods of the editor. For a replicated field `health` these are:
    ///
    /// - `health(value)` writes the value. It marks the property if the value differs from the old value.
    ///   Otherwise it sends and marks nothing. Setters return the editor, so that they can be chained.
    /// - `health_mut()` marks the property, and returns a mutable reference to its value: for collections,
    ///   strings and structs that are changed in place.
    /// - `slots_at(index, value)`, for a field `slots` whose type is written as an array `[T; N]`, writes one
    ///   element and marks only this element. There is no such method if `T` is a generic parameter, or if
    ///   the field has `with`.
    ///
    /// The methods have the visibility and the documentation of the field. For a field of a tuple struct,
    /// they are called `field_0`, `field_0_mut` and so on. If the name of the second or third method is also
    /// the name of another replicated field, only the setter of that field exists. To read the object, use
    /// the editor as the object: `player.health` is the value, and `player.health(5)` the setter.
    ///
    /// A setter of a field without `push` also makes the next tick compare the object, as
    /// [`get_mut`](Self::get_mut) does: the tick then compares all fields without `push`. Fields that are not
    /// replicated have no setter, and are written by `get_mut`. A mark applies to one object. Like any
    /// change, it waits for the [update rate](crate::UpdateRate) of the object.
    ///
    /// Costs O(1), and each setter costs the comparison of two values of its field.
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::Server;
    /// use repl_core::ObjectRef;
    /// # mod doc {
    /// # use repl_core as repl;
    /// # #[derive(repl_derive::Replicated, Default)]
    /// # #[replicated(crate = "repl")]
    /// pub struct Player {
    ///     #[replicated(push)]
    ///     pub health: u16,
    ///     #[replicated(push)]
    ///     pub ammo: [u8; 4],
    ///     #[replicated(push)]
    ///     pub name: String,
    /// }
    /// # }
    /// # use doc::Player;
    ///
    /// fn hit(server: &mut Server, player: ObjectRef<Player>, damage: u16) {
    ///     let mut player = server.edit(player);
    ///     let health = player.health.saturating_sub(damage);
    ///     player.health(health).ammo_at(0, 12);
    ///     player.name_mut().push_str(" (hit)");
    /// }
    /// # let mut server = Server::new(repl::ServerConfig::default());
    /// # let player = server.spawn(Player { health: 100, ..Player::default() });
    /// # hit(&mut server, player, 30);
    /// # assert_eq!((server[player].health, server[player].ammo[0]), (70, 12));
    /// # assert_eq!(server[player].name, " (hit)");
    /// ```
    ///
    /// # Panics
    /// Panics if the object does not exist, or is [external](crate::External).
    #[inline]
    #[track_caller]
    #[must_use = "an editor changes nothing before one of its methods is called"]
    pub fn edit<T: Replicated>(&mut self, object: ObjectRef<T>) -> Edit<'_, T> {
        match self.world.edit(object) {
            Ok(editor) => editor,
            Err(absence) => panic!("{}", text_of(absence, object)),
        }
    }

    /// Does the same as [`edit`](Self::edit). Returns `None` if the object does not exist, or is
    /// [external](crate::External).
    #[must_use = "an editor changes nothing before one of its methods is called"]
    pub fn try_edit<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<Edit<'_, T>> {
        self.world.edit(object).ok()
    }
}
