//! Prints the public parts of a Rust item as lines of text, one line for each part that users can name.
//!
//! *Invariant:* a line contains signatures but no function bodies, and only those attributes that matter to
//! users.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Block, Fields, ImplItem, Item, TraitItem, Visibility, parse_quote};

use crate::sources::is_hidden;

const KEPT: [&str; 6] = ["cfg", "deprecated", "derive", "non_exhaustive", "proc_macro_derive", "repr"];

/// Returns an item as one line.
pub(crate) fn line(item: Item) -> String {
    let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
    let text = prettyplease::unparse(&file);
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" {}", "")
}

fn strip(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| KEPT.iter().any(|name| attribute.path().is_ident(name)));
}

fn empty() -> Block {
    parse_quote!({})
}

/// Returns the lines of a definition.
pub(crate) fn lines(item: &Item) -> Vec<String> {
    match item.clone() {
        Item::Struct(mut item) => {
            strip(&mut item.attrs);
            let fields = std::mem::replace(&mut item.fields, Fields::Unit);
            item.semi_token = Some(Default::default());
            let (name, is_closed) = (item.ident.clone(), fields.iter().any(|field| !is_public(&field.vis)));
            let header = line(Item::Struct(item));
            let mut lines = vec![if is_closed { format!("{header} // private fields") } else { header }];
            for (at, mut field) in fields.into_iter().enumerate().filter(|(_, field)| is_public(&field.vis)) {
                strip(&mut field.attrs);
                let at = field.ident.take().map_or_else(|| at.to_string(), |ident| ident.to_string());
                let ty = field.ty;
                lines.push(format!("{name}::{at}: {}", type_text(&ty)));
            }
            lines
        }
        Item::Enum(mut item) => {
            strip(&mut item.attrs);
            let variants = std::mem::take(&mut item.variants);
            let name = item.ident.clone();
            let mut lines = vec![line(Item::Enum(item))];
            for mut variant in variants {
                strip(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| strip(&mut field.attrs));
                let text = line(parse_quote!(enum #name { #variant }));
                lines.push(text);
            }
            lines
        }
        Item::Trait(mut item) => {
            strip(&mut item.attrs);
            let name = item.ident.clone();
            let parts = std::mem::take(&mut item.items);
            let mut lines = vec![line(Item::Trait(item))];
            lines.extend(parts.into_iter().filter_map(|part| trait_line(&name, part)));
            lines
        }
        Item::Fn(mut item) => {
            strip(&mut item.attrs);
            *item.block = empty();
            vec![line(Item::Fn(item))]
        }
        Item::Const(mut item) => {
            strip(&mut item.attrs);
            vec![line(Item::Const(item))]
        }
        Item::Type(mut item) => {
            strip(&mut item.attrs);
            vec![line(Item::Type(item))]
        }
        Item::Macro(item) => {
            let name = item.ident.map(|name| name.to_string()).unwrap_or_default();
            rules(item.mac.tokens).into_iter().map(|(pattern, _)| format!("{name}! {pattern}")).collect()
        }
        other => vec![line(other)],
    }
}

fn type_text(ty: &syn::Type) -> String {
    let text = line(parse_quote!(type X = #ty;));
    text.trim_start_matches("type X = ").trim_end_matches(';').to_owned()
}

fn trait_line(name: &syn::Ident, mut part: TraitItem) -> Option<String> {
    let (attributes, has_default) = match &mut part {
        TraitItem::Const(part) => (&mut part.attrs, part.default.is_some()),
        TraitItem::Fn(part) => (&mut part.attrs, part.default.is_some()),
        TraitItem::Type(part) => (&mut part.attrs, part.default.is_some()),
        _ => return None,
    };
    if is_hidden(attributes) {
        return None;
    }
    strip(attributes);
    if let TraitItem::Fn(part) = &mut part {
        part.default = None;
        part.semi_token = Some(Default::default());
    }
    let text = line(parse_quote!(trait #name { #part }));
    Some(if has_default { format!("{text} // has a default") } else { text })
}

/// Returns the lines of an `impl`. An inherent `impl` has one line for each public function, an `impl` of a
/// trait has a single line.
pub(crate) fn impl_lines(item: &syn::ItemImpl) -> Vec<String> {
    let mut header = item.clone();
    strip(&mut header.attrs);
    let parts = std::mem::take(&mut header.items);
    if header.trait_.is_some() {
        let types = parts.into_iter().filter(|part| matches!(part, ImplItem::Type(_)));
        header.items.extend(types);
        return vec![line(Item::Impl(header))];
    }
    let public = parts.into_iter().filter_map(|mut part| {
        let (attributes, visibility) = match &mut part {
            ImplItem::Const(part) => (&mut part.attrs, &part.vis),
            ImplItem::Fn(part) => (&mut part.attrs, &part.vis),
            _ => return None,
        };
        if is_hidden(attributes) || !is_public(visibility) {
            return None;
        }
        strip(attributes);
        if let ImplItem::Fn(part) = &mut part {
            part.block = empty();
        }
        let mut one = header.clone();
        one.items.push(part);
        Some(line(Item::Impl(one)))
    });
    public.collect()
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns each rule of a macro: its pattern and its body.
fn rules(tokens: TokenStream) -> Vec<(TokenStream, TokenStream)> {
    let groups = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let groups: Vec<TokenStream> = groups.collect();
    groups.chunks_exact(2).map(|rule| (rule[0].clone(), rule[1].clone())).collect()
}

/// Returns the `impl`s in the bodies of a macro, with its parameters replaced by their names.
pub(crate) fn impls_of_macro(tokens: TokenStream) -> Vec<syn::ItemImpl> {
    let bodies = rules(tokens).into_iter().map(|(_, body)| plain(body));
    let items = bodies.filter_map(|body| syn::parse2::<syn::File>(body).ok()).flat_map(|file| file.items);
    let impls = items.filter_map(|item| match item {
        Item::Impl(item) => Some(item),
        _ => None,
    });
    impls.collect()
}

/// Returns the body of a macro without `$`: `$name` becomes `name`, and `$(…),*` becomes the content of the
/// parentheses.
fn plain(tokens: TokenStream) -> TokenStream {
    let mut plain_tokens = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '$' => {
                let Some(TokenTree::Group(group)) = tokens.peek().cloned() else { continue };
                tokens.next();
                plain_tokens.extend(plain(group.stream()));
                let mut marks = std::iter::from_fn(|| {
                    tokens.next_if(|token| !matches!(token, TokenTree::Punct(mark) if mark.as_char() == '$'))
                });
                // Skips the separator and the sign of the repetition.
                marks.find(|mark| ["*", "+", "?"].contains(&mark.to_string().as_str()));
            }
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                let mut inner = Group::new(group.delimiter(), plain(group.stream()));
                inner.set_span(group.span());
                inner.to_tokens(&mut plain_tokens);
            }
            token => plain_tokens.extend(quote!(#token)),
        }
    }
    plain_tokens
}

/// Returns the types for which a macro is called, on one line: of each argument, the types before its first
/// string.
pub(crate) fn call(mac: &syn::Macro) -> String {
    let mut parts = vec![TokenStream::new()];
    let mut is_past_text = false;
    for token in mac.tokens.clone() {
        if matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ';') {
            is_past_text = false;
            parts.push(TokenStream::new());
            continue;
        }
        is_past_text |= matches!(token, TokenTree::Literal(_)) && token.to_string().starts_with('"');
        if let Some(part) = parts.last_mut().filter(|_| !is_past_text) {
            part.extend([token]);
        }
    }
    let parts: Vec<String> = parts.iter().map(|part| tidy(&part.to_string())).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{}! {}", mac.path.to_token_stream(), parts.join("; "))
}

/// Returns tokens as text, with spaces roughly as in hand-written code.
fn tidy(tokens: &str) -> String {
    let text = tokens.split_whitespace().collect::<Vec<_>>().join(" ");
    let closer =
        [(" : : ", "::"), (" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ","), (" : ", ": "), (" ;", ";")];
    let text = closer.iter().fold(text, |text, (wide, narrow)| text.replace(wide, narrow));
    text.trim_end_matches([',', ' ']).to_owned()
}
