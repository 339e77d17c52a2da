//! Which connections see an object: its relevancy, and its audience.
//!
//! *Invariant:* an audience only narrows who sees an object by its relevancy.

use repl_core::ObjectRef;

use super::area::Ring;
use super::rank::Group;

/// Which connections see an object. The connection that owns an object always sees the object and the objects
/// that are [attached](Self::AttachedTo) to it, wherever they are. But no connection sees an object, not even
/// its owner, while one of these holds for the object or for an object to which it is attached:
///
/// - The relevancy is [`Nobody`](Self::Nobody).
/// - It is [hidden](crate::ObjectHandle::set_visible) from the connection.
/// - The connection is not in its [audience](crate::ObjectHandle::set_audience).
/// - It is [initially dormant](crate::Dormancy::Initial).
///
/// Relevancies can be combined: [`any`](Self::any) is "or", [`all`](Self::all) is "and", [`not`](Self::not)
/// is "except".
///
/// ```
/// # use repl_net::{Group, Relevancy};
/// const RED: Group = Group(1);
/// const HALL: Group = Group(7);
/// // The red team wherever it is, and everyone who is near and in the hall.
/// let rule = Relevancy::any([RED.into(), Relevancy::all([Relevancy::Located, HALL.into()])]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relevancy {
    /// All connections see the object. This is the default, unless the class has an [`Area`](crate::Area).
    #[default]
    Always,
    /// Only the connection that owns the object sees it.
    OwnerOnly,
    /// The connections that have [joined](crate::ConnectionHandle::join_group) the group see the object.
    Group(Group),
    /// The connections with a viewpoint near the object see it. This is the default of classes with an
    /// [`Area`](crate::Area), and only their objects can have it.
    Located,
    /// The connections that see another object see this object too, for example a thing that a player
    /// carries. If the other object does not exist or is despawned, the relevancy becomes
    /// [`OwnerOnly`](Self::OwnerOnly). Write it as [`Relevancy::attached_to(object)`](Self::attached_to), or
    /// pass the reference with [`erase`](ObjectRef::erase).
    ///
    /// An attached object has the same distance to connections as the other object. If the other object is in
    /// a [band](crate::Area::slower_beyond), the changes of both objects are sent equally often. Connections
    /// that are [far](crate::Area::near_within) from the other object do not receive the `NearOnly`
    /// properties of the attached object.
    ///
    /// Attachment does not determine the order in which a client receives the two objects and removes them: a
    /// client may have one without the other for a while. For objects that belong together, for example a
    /// tank and its turret or the components of an entity, use a
    /// [subobject](crate::ObjectHandle::spawn_subobject).
    AttachedTo(ObjectRef<()>), // for a reference of any type: `Relevancy::attached_to(object)`
    /// No connection sees the object, not even its owner: its replication is switched off. Objects that are
    /// [attached](Self::AttachedTo) to it are not seen either. As a part of a combination, it means that no
    /// connection sees the object because of this part.
    Nobody,
    /// The connections for which the [function](crate::ClassHandle::set_relevancy_by) of the class returns
    /// true see the object. This is the default of classes with such a function, and only their objects can
    /// have it.
    Computed,
    /// The connections that see the object by at least one of the parts see it. If there are no parts, only
    /// the owner sees it. Write it as [`Relevancy::any(parts)`](Self::any).
    Any(Vec<Self>),
    /// The connections that see the object by each of the parts see it. If there are no parts, all
    /// connections see it. Write it as [`Relevancy::all(parts)`](Self::all).
    All(Vec<Self>),
    /// The connections that do not see the object by the relevancy in the box see it. Write it as
    /// [`Relevancy::not(relevancy)`](Self::not).
    Not(Box<Self>),
}

/// Restricts which of the connections that see an object by its [relevancy](Relevancy) really see it. For
/// example, only the owner of an object sees one of its [subobjects](crate::ObjectHandle::spawn_subobject).
/// For other audiences, pass a combination of relevancies to
/// [`set_audience`](crate::ObjectHandle::set_audience).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Audience {
    /// All these connections. This is the default.
    #[default]
    Everyone,
    /// Only the connection that owns the object.
    Owner,
    /// All these connections except the connection that owns the object.
    NotOwner,
    /// The connections that have [joined](crate::ConnectionHandle::join_group) the group.
    Group(Group),
}

impl Relevancy {
    /// Returns the relevancy of an object that is [attached](Self::AttachedTo) to another one.
    #[must_use]
    pub fn attached_to<T: ?Sized>(object: ObjectRef<T>) -> Self {
        Self::AttachedTo(object.erase())
    }

    /// Returns the relevancy of an object that is seen by the connections that see it by at least one of the
    /// parts. For example, `Relevancy::any([RED, BLUE])` are the members of two groups.
    ///
    /// If [`Located`](Self::Located) is one of the parts, the connections that see the object by another part
    /// count as near, wherever they are. Beyond the distance of the area, changes are encoded for each of
    /// them separately.
    #[must_use]
    pub fn any<R: Into<Self>>(parts: impl IntoIterator<Item = R>) -> Self {
        Self::Any(parts.into_iter().map(Into::into).collect())
    }

    /// Returns the relevancy of an object that is seen by the connections that see it by each of the parts.
    #[must_use]
    pub fn all<R: Into<Self>>(parts: impl IntoIterator<Item = R>) -> Self {
        Self::All(parts.into_iter().map(Into::into).collect())
    }

    /// Returns the relevancy of an object that is seen by the connections that do not see it by `relevancy`.
    /// A connection that [still](crate::Area::keep_within) sees an object near it counts as one that sees it.
    #[must_use]
    pub fn not(relevancy: impl Into<Self>) -> Self {
        Self::Not(Box::new(relevancy.into()))
    }

    /// Returns the parts of a combination, and no parts of other relevancies.
    fn parts(&self) -> &[Self] {
        match self {
            Self::Any(parts) | Self::All(parts) => parts,
            Self::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// Returns whether this relevancy or a part of it is as `is_meant` says.
    pub(crate) fn has(&self, is_meant: &impl Fn(&Self) -> bool) -> bool {
        is_meant(self) || self.parts().iter().any(|part| part.has(is_meant))
    }

    /// Returns whether joining or leaving a group can change which connections see the object.
    pub(crate) fn names_group(&self, group: Group) -> bool {
        self.has(&|part| *part == Self::Group(group))
    }

    /// Returns how a connection sees an object by this relevancy: in sight, or only if it has the object
    /// already. `of_part` says this for relevancies that are not combined.
    pub(crate) fn ring(&self, of_part: &impl Fn(&Self) -> Option<Ring>) -> Option<Ring> {
        match self {
            Self::Any(parts) => {
                parts.iter().map(|part| part.ring(of_part)).max_by_key(|&ring| weight(ring)).flatten()
            }
            Self::All(parts) => {
                let rings = parts.iter().map(|part| part.ring(of_part));
                rings.min_by_key(|&ring| weight(ring)).unwrap_or(Some(Ring::InSight))
            }
            Self::Not(part) => match part.ring(of_part) {
                Some(Ring::InSight) => None,
                Some(Ring::Kept) => Some(Ring::Kept),
                None => Some(Ring::InSight),
            },
            single => of_part(single),
        }
    }

    /// Returns whether this relevancy combines others. [`Audience::NotOwner`] does not count.
    pub(crate) fn is_combination(&self) -> bool {
        matches!(self, Self::Any(_) | Self::All(_) | Self::Not(_)) && *self != Audience::NotOwner.into()
    }

    /// Returns this relevancy without the parts that show an object to a connection, or `None` if it shows
    /// the object. `of_part` says how the connection sees the object by a relevancy that is not combined.
    pub(crate) fn lacking(&self, of_part: &impl Fn(&Self) -> Option<Ring>) -> Option<Self> {
        if self.ring(of_part) == Some(Ring::InSight) {
            return None;
        }
        let failing =
            |parts: &[Self]| -> Vec<Self> { parts.iter().filter_map(|part| part.lacking(of_part)).collect() };
        let (mut failing, combine) = match self {
            Self::Any(parts) => (failing(parts), Self::Any as fn(_) -> _),
            Self::All(parts) => (failing(parts), Self::All as fn(_) -> _),
            single => return Some(single.clone()),
        };
        Some(if failing.len() == 1 { failing.remove(0) } else { combine(failing) })
    }

    /// Returns the part of this relevancy that is about groups, or `None` if no part is.
    pub(crate) fn of_groups(&self) -> Option<Self> {
        let all = |parts: &[Self]| -> Vec<Self> { parts.iter().filter_map(Self::of_groups).collect() };
        let found = match self {
            Self::Group(_) => self.clone(),
            Self::Any(parts) => Self::Any(all(parts)),
            Self::All(parts) => Self::All(all(parts)),
            Self::Not(part) => Self::Not(Box::new(part.of_groups()?)),
            _ => return None,
        };
        found.has(&|part| matches!(part, Self::Group(_))).then_some(found)
    }
}

/// Returns a number that is greater if a connection sees more objects.
const fn weight(ring: Option<Ring>) -> u8 {
    match ring {
        None => 0,
        Some(Ring::Kept) => 1,
        Some(Ring::InSight) => 2,
    }
}

impl From<Group> for Relevancy {
    fn from(group: Group) -> Self {
        Self::Group(group)
    }
}

impl From<Audience> for Relevancy {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Everyone => Self::Always,
            Audience::Owner => Self::OwnerOnly,
            Audience::NotOwner => Self::not(Self::OwnerOnly),
            Audience::Group(group) => Self::Group(group),
        }
    }
}
