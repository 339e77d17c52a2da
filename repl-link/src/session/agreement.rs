//! The classes and channels on which the two sides of a link must agree before anything else is sent (R21).
//! To the link they are only names with checksums.
//!
//! *Invariant:* the checksum of a side covers everything that the server's questions (see `inquiry`) can ask
//! about.

use std::collections::BTreeMap;

use repl_core::{Checksum, Form};

use crate::session::inquiry::{AnswerEntry, MAX_ENTRIES, Question};
use crate::session::mismatch::{Difference, LayoutMismatch, Side};
use crate::session::name::{MAX_NAME_BYTES, cut};

/// All classes and channels of one side. The other side must have the same classes and channels.
#[derive(Default)]
pub struct Agreement {
    /// The classes, sorted by name.
    classes: Vec<ClassTerms>,
    /// The channels, in the order of their numbers.
    channels: Vec<ChannelTerms>,
    checksum: u64,
}

/// One channel: a type of messages, or the calls of a class.
#[derive(Clone, Debug)]
pub struct ChannelTerms {
    /// The kind and the name of the channel.
    pub name: String,
    /// Everything that both sides must agree on, part by part.
    pub forms: Vec<Form>,
    /// The checksum of the parts.
    pub checksum: u64,
}

impl ChannelTerms {
    fn short_name(&self) -> &str {
        cut(&self.name, MAX_NAME_BYTES)
    }

    fn entry(&self) -> AnswerEntry {
        AnswerEntry::new(self.short_name(), "", self.checksum)
    }
}

/// Details of a class. The handshake asks about them only if the two sides differ.
pub trait ClassForms: Send + Sync {
    /// Returns a description of each part of the class, as far as both sides must agree on it.
    fn forms(&self) -> Vec<Form>;

    /// Returns the name of the property with this number.
    fn property(&self, number: usize) -> &str;
}

/// One class. It has a name, properties, and archetypes (sets of initial values).
pub struct ClassTerms {
    name: String,
    forms: Box<dyn ClassForms>,
    /// The checksum of each property's initial value, for each archetype. The archetype of `Default` is the
    /// first.
    begins: Vec<Vec<u64>>,
    /// The checksum of `forms` and `begins`.
    sum: u64,
}

impl ClassTerms {
    /// Returns the terms of a class. `checksum` must cover all `forms`. `begins` contains the checksum of
    /// each property's initial value, for each archetype.
    #[must_use]
    pub fn new(name: &str, checksum: u64, forms: Box<dyn ClassForms>, begins: Vec<Vec<u64>>) -> Self {
        let sum = Checksum::new().number(checksum).number(begins.len() as u64);
        let sum = begins.iter().fold(sum, |sum, values| sum.number(archetype_sum(values))).finish();
        Self { name: name.to_owned(), forms, begins, sum }
    }

    fn short_name(&self) -> &str {
        cut(&self.name, MAX_NAME_BYTES)
    }

    fn archetypes(&self) -> Vec<AnswerEntry> {
        self.begins.iter().map(|values| AnswerEntry::new("", "", archetype_sum(values))).collect()
    }

    fn values(&self, archetype: u32) -> Vec<AnswerEntry> {
        let sums = self.begins.get(archetype as usize).into_iter().flatten();
        (0..).zip(sums).map(|(at, &sum)| AnswerEntry::new(self.forms.property(at), "", sum)).collect()
    }
}

fn entries_of(forms: &[Form]) -> Vec<AnswerEntry> {
    forms.iter().map(|form| AnswerEntry::new(&form.path, &form.text, form.sum)).collect()
}

fn archetype_sum(values: &[u64]) -> u64 {
    values.iter().fold(Checksum::new(), |sum, &value| sum.number(value)).finish()
}

/// The conclusion of the server from a client's answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The classes of both sides are the same.
    Same,
    /// The first difference was found.
    Differs(LayoutMismatch),
    /// The next question to ask.
    Ask(Question),
}

impl Agreement {
    /// Returns the agreement of a side from its classes, and its channels in the order of their numbers.
    #[must_use]
    pub fn new(mut classes: Vec<ClassTerms>, channels: Vec<ChannelTerms>) -> Self {
        classes.sort_by(|one, other| one.name.cmp(&other.name));
        let sum = |sum: Checksum, class: &ClassTerms| sum.text(&class.name).number(class.sum);
        let checksum = classes.iter().fold(Checksum::new(), sum);
        let sum = |sum: Checksum, channel: &ChannelTerms| sum.text(&channel.name).number(channel.checksum);
        let checksum = channels.iter().fold(checksum, sum).finish();
        Self { classes, channels, checksum }
    }

    /// Returns the number of the class with this name, in the order of the names.
    #[must_use]
    pub fn number_of(&self, name: &str) -> Option<u32> {
        let at = self.classes.binary_search_by(|class| class.name.as_str().cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// Returns the checksum of the names, the layouts and the initial values of all classes.
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    fn class(&self, name: &str) -> Option<&ClassTerms> {
        self.classes.iter().find(|class| class.short_name() == name)
    }

    /// Returns the client's answer to a question. The answer is empty if the client has no class with the
    /// name in the question.
    pub(crate) fn answer(&self, question: &Question) -> Vec<AnswerEntry> {
        let of = |class: &str, entries: &dyn Fn(&ClassTerms) -> Vec<AnswerEntry>| {
            self.class(class).map_or_else(Vec::new, entries)
        };
        let mut entries = match question {
            Question::Classes => {
                let classes =
                    self.classes.iter().map(|class| AnswerEntry::new(class.short_name(), "", class.sum));
                let messages = self.channels.iter().map(ChannelTerms::entry);
                classes.chain(messages).collect()
            }
            Question::Forms { class } if self.class(class).is_none() => {
                let message = self.channels.iter().find(|message| message.short_name() == class);
                message.map_or_else(Vec::new, |message| entries_of(&message.forms))
            }
            Question::Forms { class } => of(class, &|class| entries_of(&class.forms.forms())),
            Question::Archetypes { class } => of(class, &ClassTerms::archetypes),
            Question::Values { class, archetype } => of(class, &|class| class.values(*archetype)),
        };
        entries.truncate(MAX_ENTRIES);
        entries
    }

    /// Compares a client's answer with the answer that the server itself would give.
    pub(crate) fn examine(&self, question: &Question, client: &[AnswerEntry]) -> Finding {
        let server = self.answer(question);
        let differs = |class: &str, difference| {
            Finding::Differs(LayoutMismatch { class: class.to_owned(), difference })
        };
        match question {
            Question::Classes => match first_class(&server, client) {
                None => Finding::Same,
                Some((class, None)) => Finding::Ask(Question::Forms { class: class.to_owned() }),
                Some((class, Some(missing_on))) => differs(class, Difference::NoClass { missing_on }),
            },
            Question::Forms { class } => match first_form(&server, client) {
                None => Finding::Ask(Question::Archetypes { class: class.clone() }),
                Some(difference) => differs(class, difference),
            },
            Question::Archetypes { class } => match first_archetype(&server, client) {
                None => differs(class, Difference::Elsewhere),
                Some((archetype, None)) => Finding::Ask(Question::Values { class: class.clone(), archetype }),
                Some((archetype, Some(missing_on))) => {
                    differs(class, Difference::NoArchetype { archetype, missing_on })
                }
            },
            Question::Values { class, archetype } => {
                let mut pairs = server.iter().zip(client);
                let first = pairs.find(|(server, client)| server != client);
                differs(
                    class,
                    first.map_or(Difference::Elsewhere, |(server, _)| Difference::Value {
                        property: server.name.clone(),
                        archetype: *archetype,
                    }),
                )
            }
        }
    }

    /// Completes a refusal on the client: adds the form that the refused property has on the client. The
    /// server does not send this form.
    pub(crate) fn complete(&self, mismatch: &mut LayoutMismatch) {
        let Difference::Form { property, client, .. } = &mut mismatch.difference else { return };
        let forms = match best(&self.classes, &mismatch.class, ClassTerms::short_name) {
            Some(class) => class.forms.forms(),
            None => best(&self.channels, &mismatch.class, ChannelTerms::short_name)
                .map_or_else(Vec::new, |message| message.forms.clone()),
        };
        let form = best(&forms, property, |form| &form.path);
        *client = form.map_or_else(String::new, |form| form.text.clone());
    }
}

/// Returns the entry with a name. The server cuts long names, so if no entry has exactly this name, an entry
/// whose name begins with it is returned.
fn best<'a, T>(list: &'a [T], name: &str, name_of: impl Fn(&'a T) -> &'a str) -> Option<&'a T> {
    let is = list.iter().find(|entry| name_of(entry) == name);
    is.or_else(|| list.iter().find(|entry| name_of(entry).starts_with(name)))
}

fn by_name(list: &[AnswerEntry]) -> BTreeMap<&str, &AnswerEntry> {
    list.iter().map(|entry| (entry.name.as_str(), entry)).collect()
}

/// Returns the first class that differs, in the order of names. If only one side has the class, the result
/// also says which side lacks the class.
fn first_class<'a>(server: &'a [AnswerEntry], client: &'a [AnswerEntry]) -> Option<(&'a str, Option<Side>)> {
    let (ours, theirs) = (by_name(server), by_name(client));
    let of_server = server.iter().filter_map(|entry| match theirs.get(entry.name.as_str()) {
        Some(theirs) if theirs.sum == entry.sum => None,
        Some(_) => Some((entry.name.as_str(), None)),
        None => Some((entry.name.as_str(), Some(Side::Client))),
    });
    let surplus = client.iter().filter(|entry| !ours.contains_key(entry.name.as_str()));
    let of_client = surplus.map(|entry| (entry.name.as_str(), Some(Side::Server)));
    of_server.chain(of_client).min_by_key(|(name, _)| *name)
}

/// Returns the first difference between the forms of a class on the two sides.
fn first_form(server: &[AnswerEntry], client: &[AnswerEntry]) -> Option<Difference> {
    let (ours, theirs) = (by_name(server), by_name(client));
    for entry in server {
        let property = entry.name.clone();
        let Some(theirs) = theirs.get(property.as_str()) else {
            return Some(Difference::NoProperty { property, missing_on: Side::Client });
        };
        if theirs.sum != entry.sum {
            let (client, server) = (theirs.form.clone(), entry.form.clone());
            return Some(Difference::Form { property, client, server });
        }
    }
    let surplus = client.iter().find(|entry| !ours.contains_key(entry.name.as_str()));
    if let Some(entry) = surplus {
        return Some(Difference::NoProperty { property: entry.name.clone(), missing_on: Side::Server });
    }
    let mut pairs = server.iter().zip(client);
    let (moved, _) = pairs.find(|(server, client)| server.name != client.name)?;
    Some(Difference::Order { property: moved.name.clone() })
}

/// Returns the first archetype that differs. If only one side has the archetype, the result also says which
/// side lacks it.
fn first_archetype(server: &[AnswerEntry], client: &[AnswerEntry]) -> Option<(u32, Option<Side>)> {
    let most = server.len().max(client.len());
    (0..most).zip(0..).find_map(|(at, number)| match (server.get(at), client.get(at)) {
        (Some(ours), Some(theirs)) => (ours.sum != theirs.sum).then_some((number, None)),
        (None, _) => Some((number, Some(Side::Server))),
        (_, None) => Some((number, Some(Side::Client))),
    })
}
