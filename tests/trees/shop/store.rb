# frozen_string_literal: true

require "json"
require_relative "money"

module Shop
  MOST = 1_000

  # What can be sold.
  Article = Struct.new(:name, :price, :tags, keyword_init: true) do
    def kind
      case price
      when 0...10 then :cheap
      when 10...100 then :usual
      else :dear
      end
    end

    def to_json(*args)
      to_h.to_json(*args)
    end
  end

  class MissingError < StandardError
    def initialize(name)
      super("no such article: #{name}")
    end
  end

  # Who wants to hear of changes.
  module Listening
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def listens_to(*names, with: :changed)
        names.each { |name| hooks[name] = with }
      end

      def hooks
        @hooks ||= {}
      end
    end

    def tell(name, *given, **more, &block)
      hook = self.class.hooks.fetch(name) { return }
      send(hook, *given, **more, &block)
    end
  end

  class Store
    include Enumerable
    include Listening

    listens_to :put, :raise_prices, with: :note

    attr_reader :articles
    attr_accessor :owner

    class << self
      def open(path)
        store = new
        JSON.parse(File.read(path)).each do |row|
          store.put(Article.new(**row.transform_keys(&:to_sym)))
        end
        store
      rescue Errno::ENOENT => error
        warn error.message
        new
      ensure
        @opened = true
      end
    end

    def initialize(owner = nil)
      @articles = {}
      @owner = owner
      @log = []
    end

    def put(article)
      raise ArgumentError, "the store is full" unless @articles.size < MOST

      @articles[article.name] = article
      tell(:put, article.name)
      self
    end
    alias << put

    def [](name)
      @articles[name] || raise(MissingError, name)
    end

    def each(&block)
      return enum_for(:each) unless block

      @articles.each_value(&block)
    end

    def total
      sum(&:price)
    end

    def grouped
      group_by(&:kind).transform_values { |all| all.map(&:name).sort }
    end

    def raise_prices(by: 0.1)
      each do |article|
        next if article.price.nil?

        article.price += article.price * by
        yield article if block_given?
      end
      tell(:raise_prices, by)
    end

    def method_missing(name, *args)
      found = @articles[name.to_s]
      found.nil? ? super : found
    end

    def respond_to_missing?(name, include_private = false)
      @articles.key?(name.to_s) || super
    end

    private

    def note(*what)
      @log << what while @log.size < 10
    end
  end
end

store = Shop::Store.new("ada")
store << Shop::Article.new(name: "tea", price: 4.5, tags: %w[green new])
puts store.total, store.grouped if __FILE__ == $PROGRAM_NAME
