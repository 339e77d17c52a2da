//! Raw identifiers lose their `r#` on the wire. Methods, types and variants may be raw, too.

#![allow(non_camel_case_types)]

use repl::{NetSerialize, Replicated};

use crate::round_trip;

#[derive(Replicated, Default)]
struct r#struct {
    #[replicated(notify = r#fn)]
    r#type: u8,
    #[replicated]
    r#match: r#enum,
}

impl r#struct {
    fn r#fn(&mut self) {
        self.r#type += 1;
    }
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum r#enum {
    #[default]
    r#loop,
    r#while {
        r#for: u8,
    },
}

#[test]
fn these_forms_are_accepted() {
    let mut value = r#struct { r#type: 1, r#match: r#enum::r#while { r#for: 2 } };
    assert_eq!(round_trip(&value).r#match, value.r#match);
    assert_eq!(round_trip(&r#enum::r#loop), r#enum::r#loop);
    Replicated::notify(&mut value, 0, &r#struct::default());
    assert_eq!(value.r#type, 2);
    assert_eq!((r#struct::WIRE_NAME, r#enum::WIRE_NAME), ("struct", "enum"));
    let property = r#struct::LAYOUT.property("match");
    assert_eq!(r#struct::LAYOUT.property_name(property.erase()), "match");
}
