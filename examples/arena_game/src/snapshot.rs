//! A snapshot: all replicated values of a client, as JSON.
//!
//! A page draws it, and a test compares the snapshots of two clients at the same tick. Objects and items
//! stand under their ids, because clients may have them in different orders.
//!
//! *Invariant:* two clients with the same values at the same tick have the same snapshot, if the order of
//! keys is ignored.

use std::fmt::Write;
use std::time::Duration;

use repl::prelude::*;

use crate::model::*;
use crate::secrets::Secret;

/// Returns the snapshot of a client.
pub fn of(client: &Client) -> String {
    let mut out = String::new();
    let me = client.connection_info().owned_objects::<Player>().next();
    object(
        &mut out,
        &[
            ("tick", &client.server_tick().map(|tick| tick as u32)),
            ("synchronized", &client.is_synchronized()),
            ("me", &me.map(|(me, _)| me)),
            ("matches", &All::<Match>(client, Default::default())),
            ("teams", &All::<Team>(client, Default::default())),
            ("players", &All::<Player>(client, Default::default())),
            ("shots", &All::<Projectile>(client, Default::default())),
            ("pickups", &All::<Pickup>(client, Default::default())),
            ("turrets", &All::<Turret>(client, Default::default())),
        ],
    );
    out
}

/// A value that can be written as JSON.
trait Json {
    fn put(&self, out: &mut String);
}

/// All objects of a class.
struct All<'a, T>(&'a Client, std::marker::PhantomData<T>);

impl<T: Replicated + Json> Json for All<'_, T> {
    fn put(&self, out: &mut String) {
        list(out, ['{', '}'], self.0.objects::<T>(), |out, (reference, object)| {
            reference.put(out);
            out.push(':');
            object.put(out);
        });
    }
}

/// Writes each of these fields of these classes.
macro_rules! fields {
    ($($class:ident: $($field:ident)*;)*) => {$(
        impl Json for $class {
            fn put(&self, out: &mut String) {
                object(out, &[$((stringify!($field), &self.$field)),*]);
            }
        }
    )*};
}

fields! {
    Match: phase seconds_left leaders;
    Team: name score turrets;
    Player: name team position heading health ammo weapon target perks pack keys shield tally laser wounds
        gait stamina respawn_in emote owners_secret others_secret first_secret;
    Projectile: shooter prey path damage speed;
    Pickup: kind position;
    Turret: position heading holder code others_secret first_secret;
    Perk: kind seconds_left;
    Supply: kind amount loser;
    Key: turret code;
    Shield: strength giver;
    Tally: kills deaths;
    Path: from direction since_tick;
}

impl Json for Phase {
    fn put(&self, out: &mut String) {
        match self {
            Self::Waiting => tagged(out, &"Waiting", &[]),
            Self::Playing { round } => tagged(out, &"Playing", &[round]),
            Self::Break { after } => tagged(out, &"Break", &[after]),
            Self::Over { winner } => tagged(out, &"Over", &[winner]),
        }
    }
}

impl Json for Weapon {
    fn put(&self, out: &mut String) {
        match self {
            Self::Unarmed => tagged(out, &"Unarmed", &[]),
            Self::Blaster { heat } => tagged(out, &"Blaster", &[heat]),
            Self::Launcher { rockets, lock } => tagged(out, &"Launcher", &[rockets, lock]),
        }
    }
}

impl Json for PickupKind {
    fn put(&self, out: &mut String) {
        match self {
            Self::Health => tagged(out, &"Health", &[]),
            Self::Ammo { rounds } => tagged(out, &"Ammo", &[rounds]),
            Self::Loot(supply) => tagged(out, &"Loot", &[supply]),
            Self::Launcher => tagged(out, &"Launcher", &[]),
            Self::Perk(kind) => tagged(out, &"Perk", &[kind]),
        }
    }
}

impl Json for PerkKind {
    fn put(&self, out: &mut String) {
        match self {
            Self::Haste => "Haste",
            Self::Scanner => "Scanner",
            Self::Cloak => "Cloak",
        }
        .put(out);
    }
}

impl Json for SupplyKind {
    fn put(&self, out: &mut String) {
        match self {
            Self::Rounds => "Rounds",
            Self::Bandages => "Bandages",
        }
        .put(out);
    }
}

impl Json for Gait {
    fn put(&self, out: &mut String) {
        match self {
            Self::Standing => "Standing",
            Self::Running => "Running",
            Self::Dead => "Dead",
        }
        .put(out);
    }
}

impl Json for bool {
    fn put(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Json for u8 {
    fn put(&self, out: &mut String) {
        u32::from(*self).put(out);
    }
}

impl Json for u16 {
    fn put(&self, out: &mut String) {
        u32::from(*self).put(out);
    }
}

impl Json for u32 {
    fn put(&self, out: &mut String) {
        _ = write!(out, "{self}");
    }
}

impl Json for f32 {
    fn put(&self, out: &mut String) {
        _ = write!(out, "{self}");
    }
}

impl Json for [f32; 2] {
    fn put(&self, out: &mut String) {
        list(out, ['[', ']'], self, |out, value| value.put(out));
    }
}

impl Json for Duration {
    fn put(&self, out: &mut String) {
        (self.as_millis() as u32).put(out);
    }
}

impl Json for &str {
    fn put(&self, out: &mut String) {
        out.push('"');
        for sign in self.chars() {
            match sign {
                '"' | '\\' => out.extend(['\\', sign]),
                '\0'..' ' => _ = write!(out, "\\u{:04x}", u32::from(sign)),
                _ => out.push(sign),
            }
        }
        out.push('"');
    }
}

impl Json for String {
    fn put(&self, out: &mut String) {
        self.as_str().put(out);
    }
}

impl Json for char {
    fn put(&self, out: &mut String) {
        (&*self.encode_utf8(&mut [0; 4])).put(out);
    }
}

impl Json for Secret {
    fn put(&self, out: &mut String) {
        let [first, second] = self.halves();
        _ = write!(out, "\"{first:x}.{second:x}\"");
    }
}

/// A reference is the slot and the generation of its object.
impl<T: ?Sized> Json for ObjectRef<T> {
    fn put(&self, out: &mut String) {
        match self.guid() {
            Some(guid) => _ = write!(out, "\"{}.{}\"", guid.slot(), guid.generation()),
            None => out.push_str("null"),
        }
    }
}

impl<T: Json> Json for Option<T> {
    fn put(&self, out: &mut String) {
        match self {
            Some(value) => value.put(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn put(&self, out: &mut String) {
        list(out, ['[', ']'], self, |out, value| value.put(out));
    }
}

impl<T: Json> Json for FastArray<T> {
    fn put(&self, out: &mut String) {
        list(out, ['{', '}'], self.ids().iter().zip(self), |out, (id, item)| {
            _ = write!(out, "\"{}\":", id.number());
            item.put(out);
        });
    }
}

/// Writes an object with these fields.
fn object(out: &mut String, fields: &[(&str, &dyn Json)]) {
    list(out, ['{', '}'], fields, |out, (name, value)| {
        name.put(out);
        out.push(':');
        value.put(out);
    });
}

/// Writes a value of an enum: a list of its name and its fields.
fn tagged(out: &mut String, name: &dyn Json, fields: &[&dyn Json]) {
    list(out, ['[', ']'], [name].iter().chain(fields), |out, value| value.put(out));
}

/// Writes values with commas between them, and brackets around them.
fn list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    values: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    for (number, value) in values.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        write(out, value);
    }
    out.push(close);
}
