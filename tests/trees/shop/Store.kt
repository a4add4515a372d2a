package org.shop.store

import kotlin.math.max
import org.shop.money.Money as Amount

const val MOST = 1_000

/** What can be sold. */
data class Article(val name: String, var price: Double, val tags: List<String> = emptyList()) {
    init {
        require(name.isNotEmpty() && price >= 0) { "cannot be sold: $name" }
    }

    val kind: Kind
        get() = when {
            price < 10 -> Kind.CHEAP
            price < 100 -> Kind.USUAL
            else -> Kind.DEAR
        }

    companion object {
        fun free(name: String) = Article(name, 0.0)
    }
}

enum class Kind(val word: String) {
    CHEAP("cheap"), USUAL("usual"), DEAR("dear");

    fun told(): String = word.uppercase()
}

sealed interface Change {
    data class Put(val article: Article) : Change
    data class Raised(val by: Double) : Change
    object Cleared : Change
}

fun interface Listener {
    fun heard(change: Change)
}

class MissingException(name: String) : RuntimeException("no such article: $name")

abstract class Base<T : Any>(protected val owner: String?) {
    abstract fun size(): Int
    open fun describe(): String = "${owner ?: "nobody"} has ${size()}"
}

open class Store(owner: String? = null, private val listener: Listener = Listener { }) :
    Base<Article>(owner), Iterable<Article> {
    private val articles = mutableMapOf<String, Article>()
    private val log by lazy { mutableListOf<String>() }
    var changes: Int = 0
        private set

    constructor(all: Collection<Article>) : this() {
        all.forEach(::put)
    }

    override fun size() = articles.size

    fun put(article: Article): Store = apply {
        check(articles.size < MOST || article.name in articles) { "the store is full" }
        articles[article.name] = article
        tell(Change.Put(article))
    }

    operator fun get(name: String): Article = articles[name] ?: throw MissingException(name)

    operator fun plus(other: Store) = Store(this.toList() + other.toList())

    override fun iterator() = articles.values.sortedBy { it.price }.iterator()

    suspend fun raise(by: Double, filter: (Article) -> Boolean = { true }) {
        for (article in this) {
            if (!filter(article)) continue
            article.price *= 1 + max(by, 0.0)
        }
        tell(Change.Raised(by))
    }

    private fun tell(change: Change) {
        changes++
        try {
            listener.heard(change)
        } catch (error: IllegalStateException) {
            log += error.message.orEmpty()
        } finally {
            while (log.size > 10) log.removeAt(0)
        }
    }
}

inline fun <reified T : Change> isOf(change: Change): Boolean = change is T

fun Store.total(): Amount = Amount(sumOf { article -> article.price })

fun describe(change: Change): String = when (change) {
    is Change.Put -> "put ${change.article.name}"
    is Change.Raised -> "raised by ${change.by * 100} %"
    Change.Cleared -> "cleared"
}

fun main() {
    val store = Store("ada") { change -> println(describe(change)) }
    store.put(Article("tea", 4.5)).put(Article.free("water"))
    val (name, price) = store["tea"]
    println("$name: $price of ${store.total()}, ${store.groupBy { it.kind }.keys.map(Kind::told)}")
}
