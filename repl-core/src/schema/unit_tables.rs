//! Prints wire forms as tables. A unit is a value that is always sent whole. The tables of the units inside a
//! table follow below the table, each once.
//!
//! *Invariant:* the text depends only on the source.

use std::fmt;

use crate::schema::columns::Columns;
use crate::schema::shape::{Around, Content, Field, Formatted, Kind, Shape, WireForm};
use crate::schema::type_text::{bits_text, brackets, full_name, tag_bits};

/// The tables of the units in a table, in the order in which they occur. Prints an empty line before each of
/// them.
#[derive(Default)]
pub struct UnitTables {
    forms: Vec<&'static WireForm>,
}

impl UnitTables {
    /// Returns the tables of all units in these fields, at any depth.
    #[must_use]
    pub fn of<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Self {
        let mut tables = Self::default();
        fields.into_iter().for_each(|field| tables.add_property(field.formatted()));
        tables
    }

    fn add_property(&mut self, property: Formatted) {
        match property.kind() {
            Kind::Leaf(_) => property.shape.form.into_iter().for_each(|form| self.add_form(form)),
            Kind::Struct(fields) => {
                fields.iter().for_each(|field| self.add_property(property.field(field)));
            }
            Kind::Enum(shape) => {
                let fields = shape.variants.iter().flat_map(|variant| variant.fields);
                fields.for_each(|field| self.add_property(property.field(field)));
            }
            Kind::FixedArray { element, .. } => self.add_property(property.element(element)),
            kind @ (Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => {
                if let Kind::Entries(map) = kind {
                    self.add_property(map.key.native());
                }
                property.elements().into_iter().for_each(|(element, _)| self.add_property(element));
            }
        }
    }

    fn add_form(&mut self, form: &'static WireForm) {
        let is_same =
            |known: &&WireForm| known.checksum == form.checksum && known.type_name() == form.type_name();
        if self.forms.iter().any(is_same) {
            return;
        }
        self.forms.push(form);
        self.add_content(form);
    }

    fn add_content(&mut self, form: &WireForm) {
        match form.content {
            Content::ByHand { .. } => {}
            Content::Derived { fields, .. } => {
                fields.iter().for_each(|field| self.add_property(field.formatted()));
            }
            Content::Shape(property) => self.add_property(property),
            Content::Around(around, form) => {
                around.keys().for_each(|key| self.add_property(key.native()));
                self.add_form(form);
            }
        }
    }
}

impl fmt::Display for UnitTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for form in self.forms.iter().filter(|form| form.has_more_than_its_name()) {
            write!(f, "\n{}\n{}", form.type_name(), form.table())?;
        }
        Ok(())
    }
}

impl Around {
    /// Returns the shapes of the keys of all maps.
    fn keys(&self) -> impl Iterator<Item = &'static Shape> {
        let mut around = self;
        std::iter::from_fn(move || {
            loop {
                match around {
                    Self::Nothing => return None,
                    Self::Sequence(_, inner) | Self::Array(_, inner) => around = inner,
                    Self::Map(key, inner) => {
                        around = inner;
                        return Some(*key);
                    }
                }
            }
        })
    }
}

impl WireForm {
    /// Returns whether the table contains more information than the name of the type.
    fn has_more_than_its_name(&self) -> bool {
        match self.content {
            Content::ByHand { parameters, .. } => !parameters.is_empty(),
            Content::Derived { fields, variants } => !fields.is_empty() || !variants.is_empty(),
            Content::Shape(property) => match property.shape.kind {
                Kind::Struct(fields) if !property.shape.is_tuple() => !fields.is_empty(),
                _ => !inside(property, "").is_empty(),
            },
            Content::Around(..) => false,
        }
    }

    fn table(&self) -> Columns {
        let of_fields = |fields: &[Field]| {
            let mut table = Columns::new(&["field", "type", "bits"]);
            fields.iter().flat_map(|field| field.rows(field.name)).for_each(|row| table.push(row));
            table
        };
        match self.content {
            Content::ByHand { version, parameters } => {
                let mut table = Columns::new(&["by hand", "value"]);
                let version = [("version", u128::from(version))];
                let numbers = version.iter().chain(parameters);
                numbers.for_each(|(name, number)| table.push([(*name).to_owned(), number.to_string()]));
                table
            }
            Content::Derived { fields, variants: [] } => of_fields(fields),
            Content::Derived { variants, .. } => self.table_of_variants(tag_bits(variants.len())),
            Content::Shape(property) => match property.shape.kind {
                Kind::Struct(fields) => {
                    let formatted = |field: &Field| field.format(property.field(field).format);
                    of_fields(&fields.iter().map(formatted).collect::<Vec<_>>())
                }
                _ => {
                    let field = Field::new("", 0, property.shape).format(property.format);
                    of_fields(&[Field { max_len: property.max_len, ..field }])
                }
            },
            Content::Around(..) => {
                let mut table = Columns::new(&["type", "bits"]);
                table.push([self.type_name(), "–".to_owned()]);
                table
            }
        }
    }

    fn table_of_variants(&self, tag_bits: usize) -> Columns {
        let mut table = Columns::new(&["variant", "name", "type", "bits"]);
        for (number, (name, fields)) in self.variants().enumerate() {
            table.push([number.to_string(), name.to_owned(), String::new(), tag_bits.to_string()]);
            for [path, type_name, bits] in fields.iter().flat_map(|field| field.rows(field.name)) {
                table.push([String::new(), format!("  {path}"), type_name, bits]);
            }
        }
        table
    }
}

impl fmt::Display for WireForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = UnitTables::default();
        units.add_content(self);
        write!(f, "{}: checksum {:016x}\n{}{units}", self.type_name(), self.checksum, self.table())
    }
}

impl fmt::Debug for WireForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Field {
    /// Returns the path, the type and the bits of the field, as printed tables show them. The rows of the
    /// fields of each inner struct follow, except if the struct is a unit.
    #[must_use]
    pub fn rows(&self, path: &str) -> Vec<[String; 3]> {
        let mut rows = Vec::new();
        add_rows(self.formatted(), path.to_owned(), &mut rows);
        rows
    }
}

/// Adds the row of a property and the rows of the fields of all inner structs.
fn add_rows(property: Formatted, path: String, rows: &mut Vec<[String; 3]>) {
    let inside = inside(property, &path);
    rows.push([path, full_name(property), bits_text(property)]);
    rows.extend(inside);
}

/// Returns the rows of the fields of all structs inside a property. The printed type of the property shows
/// everything else.
fn inside(property: Formatted, path: &str) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    match property.kind() {
        Kind::Leaf(_) => {}
        Kind::Struct(fields) => {
            for field in fields {
                let (part, path) = (property.field(field), format!("{path}.{}", field.name));
                if property.shape.is_tuple() {
                    rows.extend(inside(part, &path));
                } else {
                    add_rows(part, path, &mut rows);
                }
            }
        }
        Kind::Enum(shape) => {
            for (number, variant) in shape.variants.iter().enumerate() {
                let path = format!("{path}.{}", variant.name);
                rows.push([path.clone(), format!("variant {number}"), String::new()]);
                for field in variant.fields {
                    add_rows(property.field(field), format!("{path}.{}", field.name), &mut rows);
                }
            }
        }
        Kind::FixedArray { element, .. } => rows = inside(property.element(element), &format!("{path}[]")),
        kind @ (Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => {
            if let Kind::Entries(map) = kind {
                rows = inside(map.key.native(), &format!("{path}{{key}}"));
            }
            let path = format!("{path}{}", brackets(property));
            property.elements().into_iter().for_each(|(element, _)| rows.extend(inside(element, &path)));
        }
    }
    rows
}
