//! The rows of the table: what happens to the entities in a tick.

/// What happens to the entities in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// No entity changes.
    Idle,
    /// One in a hundred entities moves.
    Few,
    /// All entities move.
    All,
    /// The oldest thousand is despawned, and a thousand new ones are spawned.
    Churn,
}

impl Row {
    pub(crate) const EACH: [Self; 4] = [Self::Idle, Self::Few, Self::All, Self::Churn];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|row| row.name() == name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Few => "few",
            Self::All => "all",
            Self::Churn => "churn",
        }
    }

    /// Returns the title of the row in the table.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Idle => "10,000 entities, none moves",
            Self::Few => "10,000 entities, 1 % move",
            Self::All => "10,000 entities, all move",
            Self::Churn => "5,000 entities, 1,000 of them are replaced",
        }
    }

    /// Returns the number of entities.
    pub(crate) const fn entities(self) -> usize {
        match self {
            Self::Churn => 5_000,
            _ => 10_000,
        }
    }
}
