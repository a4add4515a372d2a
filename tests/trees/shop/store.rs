//! The articles of a shop.

use std::collections::{BTreeMap, HashMap as Map};
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex};

pub const MOST: usize = 1_000;

/// What can be sold.
#[derive(Debug, Clone, PartialEq)]
pub struct Article {
    pub name: String,
    pub price: f64,
    tags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Cheap,
    Usual { margin: u32 },
    Dear(u32),
}

#[derive(Debug)]
pub enum Error {
    Missing(String),
    Full,
}

impl Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing(name) => write!(out, "no such article: {}", name),
            Error::Full => out.write_str("the store is full"),
        }
    }
}

impl std::error::Error for Error {}

pub trait Counter {
    type Key: Ord;
    fn count(&self, key: &Self::Key) -> usize;
    fn is_empty(&self, key: &Self::Key) -> bool {
        self.count(key) == 0
    }
}

impl Article {
    pub fn new(name: impl Into<String>, price: f64) -> Self {
        Article { name: name.into(), price, tags: vec![] }
    }

    pub fn tagged(mut self, tag: &str) -> Self {
        self.tags.push(tag.to_owned());
        self
    }

    fn kind(&self) -> Kind {
        match self.price {
            p if p < 10.0 => Kind::Cheap,
            p if p < 100.0 => Kind::Usual { margin: 10 },
            _ => Kind::Dear(20),
        }
    }
}

#[derive(Default)]
pub struct Store {
    articles: Map<String, Article>,
    listeners: Vec<Box<dyn Fn(&Article) + Send>>,
}

impl Store {
    pub fn shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::default()))
    }

    pub fn listen<F>(&mut self, listener: F)
    where
        F: Fn(&Article) + Send + 'static,
    {
        self.listeners.push(Box::new(listener));
    }

    pub fn put(&mut self, article: Article) -> Result<Option<Article>, Error> {
        if self.articles.len() >= MOST && !self.articles.contains_key(&article.name) {
            return Err(Error::Full);
        }
        for listener in &self.listeners {
            listener(&article);
        }
        Ok(self.articles.insert(article.name.clone(), article))
    }

    pub fn get(&self, name: &str) -> Result<&Article, Error> {
        self.articles.get(name).ok_or_else(|| Error::Missing(name.to_string()))
    }

    pub fn total(&self) -> f64 {
        self.articles.values().map(|article| article.price).sum()
    }

    pub fn grouped(&self) -> BTreeMap<Kind, Vec<&Article>> {
        let mut found: BTreeMap<Kind, Vec<&Article>> = BTreeMap::new();
        for article in self.articles.values() {
            found.entry(article.kind()).or_default().push(article);
        }
        found
    }

    pub fn raise(&mut self, names: &[&str], by: f64) -> Result<(), Error> {
        let mut at = 0;
        while let Some(name) = names.get(at) {
            let article = self.articles.get_mut(*name).ok_or(Error::Missing(name.to_string()))?;
            article.price *= 1.0 + by;
            at += 1;
        }
        Ok(())
    }
}

impl Counter for Store {
    type Key = Kind;

    fn count(&self, key: &Kind) -> usize {
        self.articles.values().filter(|article| article.kind() == *key).count()
    }
}

macro_rules! article {
    ($name:expr, $price:expr) => {
        Article::new($name, $price)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_add_up() {
        let mut store = Store::default();
        store.put(article!("a", 1.5).tagged("new")).unwrap();
        store.put(article!("b", 20.0)).unwrap();
        assert_eq!(store.total(), 21.5);
        assert!(!store.is_empty(&Kind::Cheap));
    }
}
