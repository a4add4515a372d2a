import Foundation

/// What can be sold.
struct Article: Codable, Hashable {
    let name: String
    var price: Double
    var tags: [String] = []

    var kind: Kind {
        switch price {
        case ..<10: return .cheap
        case 10..<100: return .usual
        default: return .dear
        }
    }

    static func free(_ name: String) -> Article {
        Article(name: name, price: 0)
    }
}

enum Kind: String, CaseIterable {
    case cheap, usual
    case dear = "too dear"

    var word: String { rawValue.uppercased() }
}

enum StoreError: Error {
    case missing(name: String)
    case full
}

protocol Counter {
    associatedtype Key: Hashable
    func count(of key: Key) -> Int
}

extension Counter {
    func has(_ key: Key) -> Bool { count(of: key) > 0 }
}

protocol Listener: AnyObject {
    func changed(_ article: Article)
}

class Base {
    let owner: String?
    init(owner: String?) { self.owner = owner }
    func describe() -> String { "\(owner ?? "nobody") has something" }
    deinit { print("gone") }
}

final class Store: Base, Counter, Sequence {
    static let most = 1_000
    private var articles: [String: Article] = [:]
    private weak var listener: Listener?
    private lazy var log: [String] = []
    private(set) var changes = 0 {
        didSet { log.append("\(changes)") }
    }

    init(owner: String? = nil, listener: Listener? = nil) {
        self.listener = listener
        super.init(owner: owner)
    }

    convenience init(_ all: Article...) throws {
        self.init()
        for article in all {
            try put(article)
        }
    }

    subscript(name: String) -> Article? {
        get { articles[name] }
        set { articles[name] = newValue }
    }

    @discardableResult
    func put(_ article: Article) throws -> Store {
        guard articles.count < Store.most || articles[article.name] != nil else {
            throw StoreError.full
        }
        articles[article.name] = article
        changes += 1
        listener?.changed(article)
        return self
    }

    func get(_ name: String) throws -> Article {
        if let found = self[name] {
            return found
        }
        throw StoreError.missing(name: name)
    }

    func makeIterator() -> AnyIterator<Article> {
        var sorted = articles.values.sorted { $0.price < $1.price }
        return AnyIterator { sorted.isEmpty ? nil : sorted.removeFirst() }
    }

    func count(of key: Kind) -> Int {
        articles.values.filter { $0.kind == key }.count
    }

    func raise(by share: Double, where wanted: (Article) -> Bool = { _ in true }) async -> Int {
        var done = 0
        for (name, article) in articles where wanted(article) {
            articles[name]?.price *= 1 + share
            done += 1
        }
        return done
    }

    override func describe() -> String {
        super.describe() + ", \(reduce(0) { $0 + $1.price })"
    }

    static func + (one: Store, other: Store) -> Store {
        let both = Store()
        [one, other].flatMap { Array($0) }.forEach { try? both.put($0) }
        return both
    }
}

extension Sequence where Element == Article {
    func total() -> Double { map(\.price).reduce(0, +) }
}

func report(_ store: Store, to say: @escaping (String) -> Void) {
    do {
        let tea = try store.get("tea")
        say(tea.kind.word)
    } catch StoreError.missing(let name) {
        say("no such article: \(name)")
    } catch {
        say(error.localizedDescription)
    }
    var at = 0
    while at < Kind.allCases.count {
        say("\(store.count(of: Kind.allCases[at]))")
        at += 1
    }
}
