//! A survey reads a packet body and reports each of its entries to an [`Account`]. A server surveys packets
//! that it has sent, and a client surveys packets that it is about to apply.
//!
//! *Invariant:* a survey needs only the guid, the class and the name of an object, and never its values.

use repl_core::wire::read_handles;
use repl_core::{BitReader, BitSlice, Epoch, Guid, HandleSet, Program, ReadError};
use repl_link::parts::Sequence;

use crate::body::reassembly::Part;
use crate::body::removal::{CloseReason, ReadRemoval};
use crate::body::segment::PreviousLists;
use crate::body::walk::{BodyError, OpenHead, PropertyList, Visitor, walk};
use crate::inspect::label::Label;
use crate::session::classes::ClassList;

/// What a survey needs to know about the objects and classes of one side.
pub(crate) trait Catalog {
    fn classes(&self) -> &ClassList;
    /// Returns the program (the flat description of all properties) of the class that was registered as
    /// number `class`.
    fn program(&self, class: u16) -> Option<&Program>;
    /// Returns the number of archetypes of a class (its sets of initial values), plus one for the values of
    /// `Default`.
    fn archetypes(&self, class: u16) -> Option<u32>;
    /// Returns the object in a slot, with the number of its class.
    fn object(&self, slot: u32) -> Option<(Guid, u16)>;
    /// Returns the name that the program has given to the object in a slot, if it has one.
    fn name(&self, slot: u32) -> Option<&str>;
    /// Returns the epoch of this side's references: what a client adds to generations after a server restart.
    fn epoch(&self) -> Epoch;
}

/// The object that an entry of a body is about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) guid: Guid,
    pub(crate) class: u16,
    pub(crate) program: &'a Program,
    pub(crate) name: Option<&'a str>,
    pub(crate) epoch: Epoch,
}

impl Subject<'_> {
    pub(crate) fn label(&self) -> Label<'_> {
        Label {
            guid: self.epoch.from_wire(self.guid),
            class: Some(self.program.layout().name()),
            name: self.name,
        }
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Opening,
    Update,
    /// The object is removed for this reason.
    Removal(CloseReason),
    /// The object is removed for this reason, and the entry contains the changes before its removal.
    LastState(CloseReason),
    /// A part of an update that is too large for one packet: the index of the part, and the number of parts.
    Part(usize, usize),
}

/// Receives the entries of a surveyed body.
pub(crate) trait Account {
    /// Called for the next entry. `head_bits` is the number of bits before its values.
    fn entry(&mut self, entry: Entry, subject: Subject<'_>, head_bits: usize);
    /// Called for each property in the entry for which [`entry`](Self::entry) was called last. `bits`
    /// contains its value.
    fn property(&mut self, subject: Subject<'_>, handle: u32, bits: BitSlice<'_>);
}

/// Reports the entries in a body to `account`. Returns those parts of large updates that the body contains.
/// When the caller has all parts of an update, it surveys the whole update like a body.
///
/// # Errors
/// Returns an error if the body is malformed, or if the catalog lacks one of its objects.
pub(crate) fn survey(
    sequence: Sequence,
    reader: &mut BitReader<'_>,
    catalog: &impl Catalog,
    account: &mut impl Account,
) -> Result<Vec<Part>, BodyError> {
    let mut surveyor = Surveyor { catalog, account, parts: Vec::new() };
    walk(sequence, reader, &mut PreviousLists::default(), &mut surveyor)?;
    Ok(surveyor.parts)
}

struct Surveyor<'a, C, A> {
    catalog: &'a C,
    account: &'a mut A,
    parts: Vec<Part>,
}

impl<'a, C: Catalog, A: Account> Surveyor<'a, C, A> {
    fn subject(&self, slot: u32) -> Result<Subject<'a>, ReadError> {
        let (guid, class) = self.catalog.object(slot).ok_or(ReadError::OutOfRange)?;
        self.subject_of(guid, class)
    }

    fn subject_of(&self, guid: Guid, class: u16) -> Result<Subject<'a>, ReadError> {
        let program = self.catalog.program(class).ok_or(ReadError::OutOfRange)?;
        let (name, epoch) = (self.catalog.name(guid.slot()), self.catalog.epoch());
        Ok(Subject { guid, class, program, name, epoch })
    }

    /// Reports the values of an entry to the account.
    fn values(
        &mut self,
        subject: Subject<'_>,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
    ) -> Result<(), ReadError> {
        subject.program.survey(handles, reader, |handle, bits| self.account.property(subject, handle, bits))
    }

    fn registered(&self, class: u32) -> Option<u16> {
        self.catalog.classes().registered(class).map(|class| class as u16)
    }
}

impl<C: Catalog, A: Account> Visitor for Surveyor<'_, C, A> {
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        let (_, class) = self.catalog.object(slot).ok_or(ReadError::OutOfRange)?;
        Ok(self.catalog.classes().wire(class.into()))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        Some(self.catalog.program(self.registered(class)?)?.handles())
    }

    fn archetypes_of(&self, class: u32) -> Option<u32> {
        self.catalog.archetypes(self.registered(class)?)
    }

    fn classes(&self) -> u32 {
        self.catalog.classes().len()
    }

    fn update_alike(&mut self, _: u32, _: &mut BitReader<'_>) -> bool {
        false
    }

    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let subject = self.subject(slot)?;
        self.account.entry(Entry::Update, subject, list.head_bits);
        Ok(self.values(subject, list.handles, reader)?)
    }

    fn open(
        &mut self,
        head: OpenHead<'_>,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let class = self.registered(head.class).ok_or(ReadError::OutOfRange)?;
        // The head bits of a run are counted only for its first object.
        let mut head_bits = list.head_bits;
        for slot in head.slots {
            let subject = self.subject_of(Guid::new(slot, head.generation), class)?;
            self.account.entry(Entry::Opening, subject, std::mem::take(&mut head_bits));
            self.values(subject, list.handles, reader)?;
        }
        Ok(())
    }

    fn close(
        &mut self,
        slot: u32,
        removal: &ReadRemoval,
        head_bits: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let Some(last_state_bits) = removal.last_state_bits else {
            // This side may not have the removed object.
            if let Ok(subject) = self.subject(slot) {
                self.account.entry(Entry::Removal(removal.reason), subject, head_bits);
            }
            return Ok(());
        };
        let Ok(subject) = self.subject(slot) else { return Ok(reader.skip_bits(last_state_bits)?) };
        let start = reader.position();
        let handles = read_handles(subject.program.handles(), false, reader)?;
        let list_bits = reader.position().saturating_sub(start);
        self.account.entry(Entry::LastState(removal.reason), subject, head_bits.saturating_add(list_bits));
        Ok(self.values(subject, &handles, reader)?)
    }

    fn part(&mut self, part: Part) -> Result<(), BodyError> {
        // This side may not have the object yet, because all parts must arrive first.
        if let Ok(subject) = self.subject(part.slot) {
            self.account.entry(Entry::Part(part.head.index, part.head.cut.parts()), subject, 0);
        }
        self.parts.push(part);
        Ok(())
    }
}
